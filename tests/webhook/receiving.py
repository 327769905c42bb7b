"""Tests for every receiver of our webhooks, in any language."""
import base64
import subprocess

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(bytes(range(64))).decode()
KEY = "Größe 100% + 1\r\nx-admin: yes"
BODY = '{"text": "Grüße \\"x\\" 你好", "big": 9007199254740993, "half": 0.50}'
PATIENCE = 60  # seconds; a test normally needs only a few


class Receiver:
    """A process that prints where it listens, and then each webhook that it has received and verified."""

    def __init__(self, *command):
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        line = self.line()
        if not line.startswith("listening at "):
            raise RuntimeError(f"{command} does not listen: {line}")
        self.url = f"http://127.0.0.1:{line.split()[-1]}/"

    def line(self):
        return self.process.stdout.readline().rstrip("\n")

    def rest(self):
        """Ends the process and returns the rest of its output."""
        self.process.terminate()
        rest, _ = self.process.communicate(timeout=PATIENCE)
        return rest


class Receiving:
    """For a unittest.TestCase with `peer`, our program, and receiver(secret), which starts a receiver with that secret."""

    def send(self, receiver, *secrets, key="k", body="{}", age=0):
        command = [self.peer, receiver.url, key, str(age), *secrets]
        run = subprocess.run(command, input=body, capture_output=True, text=True, timeout=PATIENCE, check=True)
        return run.stdout.strip()

    def start(self, secret):
        receiver = self.receiver(secret)
        self.addCleanup(receiver.rest)
        return receiver

    def test_takes_what_is_signed_with_the_secret_that_it_knows_and_nothing_else(self):
        receiver = self.start(SECRET)
        self.assertEqual(self.send(receiver, SECRET), "200")
        self.assertEqual(self.send(receiver, OTHER), "401")

    def test_takes_what_is_signed_with_two_secrets_whichever_it_knows(self):
        for known in (SECRET, OTHER):
            self.assertEqual(self.send(self.start(known), SECRET, OTHER), "200")

    def test_does_not_take_what_was_signed_long_ago_or_later_than_now(self):
        receiver = self.start(SECRET)
        self.assertEqual(self.send(receiver, SECRET, age=290), "200")
        for age in (400, -400):
            self.assertEqual(self.send(receiver, SECRET, age=age), "401")

    def test_gets_the_body_and_the_key_as_they_are(self):
        receiver = self.start(SECRET)
        self.assertEqual(self.send(receiver, SECRET, body=BODY), "200")
        self.assertEqual(receiver.line(), "k " + BODY)
        self.assertEqual(self.send(receiver, SECRET, key=KEY), "200")
        self.assertEqual(receiver.rest().replace("\r\n", "\n"), KEY.replace("\r\n", "\n") + " {}\n")
