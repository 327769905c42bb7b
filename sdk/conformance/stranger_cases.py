"""Something else answers than the daemon that the worker knows; and handlers do what is not expected of them."""
import os
import pathlib
import ssl
import subprocess

from case import Case, quick, until
from proxy import ANY, LEASE, RENEW, SETTLE, SUBMIT, Proxy, answer, changed, html, problem


class Strangers(Case):
    def works_again(self, subject):
        self.proxy.calm()
        self.until_ended(self.store("none", "after"))
        self.assertIsNone(subject.process.poll())

    @quick
    def test_html_is_not_taken_for_an_answer(self):
        subject = self.start()
        self.until_ended(self.store("none", "before"))
        self.proxy.play(ANY, html(), times=1000)
        self.until_error(subject, "not an EasyRetry daemon")
        subject.say(do="submit", tag="t", handler="conform.none", key="a", args=[{}])
        until(lambda: subject.seen("refused", tag="t"), what="not refused")
        self.assertRegex(subject.seen("refused")[0]["text"], "(?i)not an EasyRetry daemon")
        self.works_again(subject)

    def test_json_of_another_service_is_not_taken_for_an_answer(self):
        self.proxy.play(LEASE, answer(200, b'{"tasks": []}', Content_Type="application/json"), times=1000)
        subject = self.start()
        self.until_error(subject, "not an EasyRetry daemon")
        until(lambda: len(subject.seen("error")) >= 4, what="it did not try again")
        self.assertLess(len(self.proxy.seen(LEASE)), 50, "it asks without pauses")
        self.works_again(subject)

    def test_an_outcome_survives_html(self):
        subject = self.start(lease_ms=60_000)
        self.proxy.play(SETTLE, html(), times=2)
        self.until_ended(self.store("none", "a"))
        self.assertEqual(len(self.begun(subject, 1)), 1)

    def test_a_redirect_is_not_followed(self):
        elsewhere = Proxy(self.daemon.port)
        self.addCleanup(elsewhere.close)
        target = f"http://127.0.0.1:{elsewhere.port}/v1/leases"
        for status in (301, 302, 303, 307, 308):
            self.proxy.play(LEASE, answer(status, b"", Location=target), times=2)
        subject = self.start()
        self.until_error(subject, "redirect")
        until(lambda: len(self.proxy.seen(LEASE)) > 10, what="it did not try again")
        self.assertEqual(elsewhere.seen(), [])
        self.works_again(subject)

    def test_a_token_that_was_revoked_is_named_and_may_come_back(self):
        subject = self.start(lease_ms=60_000)
        id = self.store("slow", "a", ms=3000)
        self.until_begun(subject, "a")
        tokens = pathlib.Path(self.folder, "easyretry.tokens")
        before = tokens.read_text()
        replace(tokens, "".join(line for line in before.splitlines(True) if "conform" not in line))
        self.until_error(subject, "token")
        until(lambda: subject.seen("end", key="a"), what="the handler did not end")
        replace(tokens, before)
        self.until_ended(id, seconds=120)  # the daemon lets an address wait after many wrong tokens
        self.assertEqual(len(self.begun(subject, 1)), 1)

    @quick
    def test_fields_of_a_newer_api_are_ignored(self):
        def newer(_, content):
            for holder in [content, *content.get("tasks", [])]:
                if isinstance(holder, dict):
                    holder["added_later"] = {"deep": [1, None]}

        self.proxy.play(ANY, changed(newer), times=1000)
        subject = self.start(lease_ms=6000)
        subject.say(do="submit", tag="t", handler="conform.ok", key="a", args=[{}])
        until(lambda: subject.seen("submitted", tag="t"), what="not submitted")
        self.until_ended(subject.seen("submitted", tag="t")[0]["ids"][0])
        self.until_ended(self.store("slow", "b", ms=3000))  # renewed once

    def test_a_daemon_that_speaks_only_a_newer_api_is_named(self):
        gone = problem(410, "gone", "this daemon speaks /v2 only")
        self.proxy.play(LEASE, gone, times=5)
        self.proxy.play(SUBMIT, gone)
        subject = self.start()
        self.until_error(subject, "speaks /v2 only")
        subject.say(do="submit", tag="t", handler="conform.none", key="a", args=[{}])
        until(lambda: subject.seen("refused", tag="t"), what="not refused")
        self.assertIn("speaks /v2 only", subject.seen("refused")[0]["text"])
        self.works_again(subject)


class Certificates(Case):
    def certificate(self, name, host):
        """A certificate that signs itself; a server context with it."""
        pem, key = os.path.join(self.folder, f"{name}.pem"), os.path.join(self.folder, f"{name}.key")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                        "-addext", f"subjectAltName={host}", "-keyout", key, "-out", pem], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem, key)
        return pem, context

    def start_behind(self, context, ca_file):
        proxy = Proxy(self.daemon.port, tls=context)
        self.addCleanup(proxy.close)
        return proxy, self.start(url=f"https://127.0.0.1:{proxy.port}", ca_file=ca_file)

    def test_a_trusted_certificate_is_accepted(self):
        pem, context = self.certificate("right", "IP:127.0.0.1")
        self.start_behind(context, pem)
        self.until_ended(self.store("none", "a"))

    def test_a_certificate_of_another_authority_is_refused(self):
        other, _ = self.certificate("other", "IP:127.0.0.1")
        _, context = self.certificate("unknown", "IP:127.0.0.1")
        proxy, subject = self.start_behind(context, other)
        self.until_error(subject, "certificate")
        self.assertEqual(proxy.seen(), [])

    def test_a_certificate_for_another_name_is_refused(self):
        pem, context = self.certificate("wrong", "DNS:retry.example")
        proxy, subject = self.start_behind(context, pem)
        self.until_error(subject, "certificate")
        self.assertEqual(proxy.seen(), [])


class Handlers(Case):
    def test_whatever_a_handler_throws_is_a_failed_attempt(self):
        subject = self.start()
        for what in ("stranger", "empty", "nul", "broken", "long", "untold"):
            with self.subTest(what):
                ended = self.until_ended(self.store("throws", what, what=what, policy={"max_attempts": 1}), "exhausted")
                self.assertTrue(ended["last_error"])
        self.until_ended(self.store("none", "after"))
        self.assertEqual(len(self.begun(subject, 7)), 7)

    def test_whatever_a_handler_returns_is_a_success(self):
        subject = self.start(lease_ms=60_000)
        for number, what in enumerate(("nan", "cycle", "stranger", "huge", "broken"), 1):
            with self.subTest(what):
                self.until_ended(self.store("returns", what, what=what))
                if what != "broken":  # some languages mend it
                    until(lambda: self.left_out(subject) >= number, what=lambda: f"no warning: {subject.seen('error')}")
        self.assertEqual(len(self.begun(subject, 5)), 5)

    def left_out(self, subject):
        return len([event for event in subject.seen("error") if "left out" in event["text"].lower()])

    @quick
    def test_whole_numbers_keep_their_digits(self):
        self.start()
        id = self.store("returns", "a", what="whole")
        self.until_ended(id)
        self.assertIn("9007199254740993", self.daemon.ask_for_text("GET", f"/v1/tasks/{id}?result")[2])

    def test_a_handler_that_never_ends_keeps_its_lease_and_one_place(self):
        subject = self.start(concurrency=2, lease_ms=6000)
        id = self.store("never", "a")
        self.until_begun(subject, "a")
        for number in range(10):
            self.until_ended(self.store("slow", f"k{number}", ms=300))
        until(lambda: len(self.proxy.seen(RENEW)) >= 4, what="its lease was not renewed")
        self.assertEqual((self.task(id)["state"], self.task(id)["crashes"]), ("running", 0))
        self.assertEqual(len(subject.seen("begin", key="a")), 1)


def replace(file, text):
    """In one step, as the daemon's own command does it."""
    fresh = file.with_suffix(".fresh")
    fresh.write_text(text)
    fresh.chmod(0o600)
    fresh.replace(file)
