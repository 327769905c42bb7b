"""Submits tasks, and calls a function that is stored if it fails. Needs a daemon at EASYRETRY_URL, and EASYRETRY_TOKEN."""
from easyretry import App, NewTask, Policy


class CardRefused(Exception):
    pass


def gateway(order):
    if order["id"] == 2:
        raise ConnectionError("the bank is busy")
    return {"code": 200}


app = App()


@app.retryable("payment.pay", never_retry=(CardRefused,), policy=Policy(max_attempts=5))
def pay(order):
    return gateway(order)


app.client.submit("mail.send", {"to": "ann"}, key="welcome ann", delay=60, policy=Policy(max_attempts=5))
app.client.submit_many(NewTask("mail.send", [{"to": to}]) for to in ("bob", "cid"))
for order in ({"id": 1}, {"id": 2}):
    paid = pay(order)
    if paid:
        print("paid:", paid.value)
    else:
        print("stored as task", paid.task)
