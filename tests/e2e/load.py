"""Clients that submit and run tasks through daemons that may come and go, and a journal of what they were told."""
import http.client
import itertools
import threading

HANDLER = "mail"


class Load:
    """Works while the `with` block runs. A request that gets no answer goes to the next daemon, until one answers."""

    def __init__(self, daemons, submitters=2, workers=2, handlers=(HANDLER,)):
        self.daemons = list(daemons)  # replaced as a whole when daemons come and go
        self.handlers = list(handlers)
        self.stored = set()  # tasks that a daemon has acknowledged
        self.ended = set()  # tasks whose success a daemon has acknowledged
        self.ran = []  # the task of every execution
        self.trouble = []
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self.submit, args=(number,)) for number in range(submitters)]
        self.threads += [threading.Thread(target=self.work) for _ in range(workers)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def journal(self):
        """(stored, ended) as of now."""
        return self.stored.copy(), self.ended.copy()

    def ask(self, *request):
        """(status, answer) of the first daemon that answers. None: the load is over, and since then no daemon has answered."""
        in_vain = 0
        for number in itertools.count():
            daemons = self.daemons
            try:
                status, answer = daemons[number % len(daemons)].ask(*request)
                if status != 503:  # it is stopping, or has lost its store for a moment
                    return status, answer
            except (OSError, http.client.HTTPException):
                pass
            in_vain += self.over.is_set()
            if in_vain > len(daemons):
                return None
            self.over.wait(0.02)

    def submit(self, number):
        for count in itertools.count():
            if self.over.is_set():
                return
            task = {"handler": HANDLER, "key": f"{number}-{count}", "args": [count]}
            if not (answered := self.ask("POST", "/v1/tasks", task)):
                return
            status, answer = answered
            if status in (200, 201):  # 200: an earlier request, whose answer was lost, has stored it
                self.stored.add(answer["id"])
            else:
                self.trouble.append(answer)

    def work(self):
        while not self.over.is_set():
            answered = self.ask("POST", "/v1/leases", {"handlers": self.handlers, "max": 10, "wait_ms": 500})
            if not answered:
                return
            status, answer = answered
            if status != 200:
                self.trouble.append(answer)
            for task in answer.get("tasks", []):
                self.run(task)

    def run(self, task):
        """Every fourth task fails once."""
        self.ran.append(task["id"])
        lease, version = f"/v1/leases/{task['id']}", {"version": task["version"]}
        if int(task["id"]) % 4 == 0 and task["attempts"] == 1:
            self.ask("POST", f"{lease}/fail", {**version, "error": "503", "retry_after_ms": 100})
            return
        answered = self.ask("POST", f"{lease}/done", version)
        if answered and answered[0] == 200:
            self.ended.add(task["id"])


def live(daemon, handler=HANDLER):
    """Ids of up to 1,000 live tasks of the handler."""
    return {task["id"] for task in daemon.ask("GET", f"/v1/tasks?handler={handler}&limit=1000")[1]["tasks"]}


def succeeded(daemon):
    """Ids of all tasks that history has as succeeded."""
    found, after = set(), ""
    while True:
        page = daemon.ask("GET", f"/v1/history?outcome=succeeded&limit=1000{after}")[1]
        found.update(task["id"] for task in page["tasks"])
        if "next" not in page:
            return found
        after = f"&after={page['next']}"
