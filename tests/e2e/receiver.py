"""A receiver of webhooks for tests, and the secrets with which a daemon signs them."""
import http.server
import os
import threading


class ManyAtOnce(http.server.ThreadingHTTPServer):
    request_queue_size = 256  # with the usual 5, the other clients would have to reconnect after seconds


class Receiver:
    """Answers each call with `status` and `headers`, and counts them."""

    def __init__(self):
        self.calls = 0
        self.status = 200
        self.headers = {}
        self.counting = threading.Lock()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(handler):  # noqa: N805
                handler.rfile.read(int(handler.headers["Content-Length"]))
                with self.counting:
                    self.calls += 1
                handler.send_response(self.status)
                for name, value in {**self.headers, "Content-Length": "0"}.items():
                    handler.send_header(name, value)
                handler.end_headers()

            def log_message(handler, *args):  # noqa: N805
                pass

        self.server = ManyAtOnce(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def write_secrets(folder, name="hook.secrets"):
    file = os.path.join(folder, name)
    if os.path.exists(file):
        return
    with open(os.open(file, os.O_WRONLY | os.O_CREAT, 0o600), "w") as out:
        out.write("whsec_" + "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=" + "\n")
