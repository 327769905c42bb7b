"""Receivers of alerts: an HTTP server and a mail server, written with the standard library only."""
import base64
import http.server
import queue
import socketserver
import ssl
import threading


class HttpReceiver:
    """Keeps each POST as (path, headers, body). Answers once `hold` is set."""

    def __init__(self, answer="{}", status=200):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.got.put((self.path, dict(self.headers.items()), body.decode()))
                receiver.hold.wait()
                text = receiver.answer.encode()
                try:
                    self.send_response(receiver.status)
                    self.send_header("content-length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)
                except ConnectionError:
                    pass  # the client stopped waiting and disconnected

            def log_message(self, *_):
                pass

        self.answer, self.status = answer, status
        self.got = queue.Queue()
        self.hold = threading.Event()
        self.hold.set()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.hold.set()
        self.server.shutdown()
        self.server.server_close()


class MailServer:
    """Speaks as much SMTP as a client needs. Keeps each mail as (from, to, text, logged in as, encrypted). With
    `certificate`, the files of a certificate and its key, it offers STARTTLS, or uses TLS from the start. With
    `password`, it accepts only that password."""

    def __init__(self, certificate=None, from_the_start=False, password=None, refuse=None):
        tls = None
        if certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(*certificate)
        got = self.got = queue.Queue()

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    self.converse()
                except (ssl.SSLError, ConnectionError):
                    pass  # a client that does not trust the certificate disconnects
                finally:
                    self.lines.close()
                    self.request.close()

            def encrypt(self):
                self.request = tls.wrap_socket(self.request, server_side=True)
                self.lines = self.request.makefile("rb")
                self.encrypted = True

            def say(self, line):
                self.request.sendall(line.encode() + b"\r\n")

            def converse(self):
                self.lines, self.encrypted, self.user = self.request.makefile("rb"), False, None
                if from_the_start:
                    self.encrypt()
                self.say("220 mail.example")
                while line := self.lines.readline().decode().rstrip("\r\n"):
                    if line.upper() == "QUIT":
                        return self.say("221 bye")
                    self.answer(line)

            def answer(self, line):
                verb = line.split(":")[0].split()[0].upper()
                if verb in ("EHLO", "HELO"):
                    self.say("250-mail.example")
                    if tls and not self.encrypted:
                        self.say("250-STARTTLS")
                    if password:
                        self.say("250-AUTH PLAIN")
                    self.say("250 8BITMIME")
                elif verb == "STARTTLS":
                    self.say("220 go on")
                    self.encrypt()
                elif verb == "AUTH":
                    self.log_in(line)
                elif verb == "MAIL":
                    if refuse:
                        return self.say(refuse)
                    self.sender, self.to = line.partition("<")[2].partition(">")[0], []
                    self.say("250 ok")
                elif verb == "RCPT":
                    self.to.append(line.partition("<")[2].partition(">")[0])
                    self.say("250 ok")
                elif verb == "DATA":
                    self.say("354 go on")
                    self.take_data()
                else:
                    self.say("500 what?")

            def log_in(self, line):
                words = line.split()
                if len(words) < 3:
                    self.say("334 ")
                    words.append(self.lines.readline().decode().strip())
                _, user, given = base64.b64decode(words[2]).decode().split("\0")
                if given != password:
                    return self.say(f"535 {given} is wrong")  # the worst case: a server that repeats the password
                self.user = user
                self.say("235 welcome")

            def take_data(self):
                text = b""
                while (line := self.lines.readline()) != b".\r\n":
                    text += line[1:] if line.startswith(b".") else line
                got.put((self.sender, self.to, text, self.user, self.encrypted))
                self.say("250 taken")

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
