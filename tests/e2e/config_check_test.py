"""easyretry config check finds every error for which easyretry serve refuses to start, and reports it in the same words.
Usage: config_check_test.py EASYRETRY_PROGRAM"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))


def certificate(folder, name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", "/CN=retry", "-addext", "subjectAltName=IP:127.0.0.1"],
                   cwd=folder, check=True, capture_output=True)


class ConfigCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=30)

    def problems(self, *arguments):
        ran = self.run_program("config", "check", "--json", *arguments)
        answer = json.loads(ran.stdout)
        self.assertEqual(ran.returncode, 1 if answer["problems"] else 0, ran.stderr)
        return answer["problems"]

    def refused(self, config, *sentences):
        """Both commands print these sentences, one line each, and nothing else. No file is created."""
        self.write("easyretry.yaml", config)
        before = sorted(os.listdir(self.folder))
        found = self.problems()
        for sentence in sentences:
            self.assertEqual(sum(sentence in problem for problem in found), 1, (sentence, found))
        self.assertEqual(len(found), len(sentences), found)
        served = self.run_program("serve")
        self.assertEqual((served.returncode, served.stdout, served.stderr), (1, "", "easyretry: " + "\n".join(found) + "\n"))
        shown = self.run_program("config", "check")
        self.assertEqual((shown.returncode, shown.stdout), (1, ""))
        self.assertTrue(shown.stderr.startswith("\n".join(found) + "\nnot checked: "), shown.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_errors_in_the_file_itself(self):
        self.refused("workerz: 3\n", "easyretry.yaml:1:1: workerz: unknown key, did you mean workers?")
        self.refused("defaults: {success_when: 'result =='}\n", "success_when")
        self.refused("alerts: {channels: {ops: {type: webhook, url: 'https://oncall.example/x'}}}\n", "secret_file is missing")

    def test_engine(self):
        self.refused("membership: everybody\n", 'membership is "everybody"; write store')
        self.refused("membership: 'nacos://127.0.0.1:8848/orders'\n", "instances cannot share this store")
        self.refused("encryption: {folder: keys}\n", "encryption: the folder keys cannot be read")

    def test_urls_of_stores(self):
        self.refused("store: 'postgre://db/retry'\n", 'did you mean "postgres"?')
        self.refused("store: 'sqlite:retry.db?histori=all'\n", 'did you mean "history"?')
        self.refused("store: 'memory:?shards=0'\n", "option shards")
        self.refused("store: 'mysql://app:geheim@db/retry?layout=hash(12)'\n", "hash(12) does not divide 64 shards; use 8 or 16")
        self.refused("store: 'rediss://db:6379/0'\n", "TLS is not available for Redis")

    def test_where_it_listens(self):
        self.refused("server: {listen: '0.0.0.0:0'}\n", "which other machines can reach, and tokens must not be sent unencrypted")
        certificate(self.folder, "right")
        self.refused("server: {listen: 'retry.example:0', certificate: right.pem, private_key: right.key}\n",
                     '"retry.example" is not an address to listen on')

    def test_certificates_and_keys(self):
        certificate(self.folder, "right")
        certificate(self.folder, "other")
        self.write("empty.pem", "")

        def server(certificate_file, key):
            return f"server: {{listen: '127.0.0.1:0', certificate: {certificate_file}, private_key: {key}}}\n"

        self.refused(server("none.pem", "right.key"), "the certificate none.pem cannot be used: No such file")
        self.refused(server("empty.pem", "right.key"), "the certificate empty.pem cannot be used")
        self.refused(server("right.pem", "none.key"), "the private key none.key cannot be used: No such file")
        self.refused(server("right.pem", "other.key"), "the private key other.key cannot be used: key values mismatch")
        self.refused("server: {certificate: right.pem}\n", "server.certificate and server.private_key must be given together")
        self.refused("server: {private_key: right.key}\n", "server.certificate and server.private_key must be given together")

    def test_tokens_and_the_audit_log(self):
        self.refused("server: {tokens: nowhere/tokens}\n", "cannot write the first token to nowhere/tokens.first: No such file")
        self.write("left.first", "er_1\n")
        self.refused("server: {tokens: left}\n", "cannot write the first token to left.first: File exists")
        self.write("tokens", "ops emperor * 00\n")
        self.refused("server: {tokens: tokens}\n", "tokens:1: not a token")
        os.mkdir(os.path.join(self.folder, "kept"))
        self.refused("server: {tokens: kept}\n", "cannot read the tokens in kept: Is a directory")
        os.symlink("gone", os.path.join(self.folder, "link"))
        self.refused("server: {tokens: link}\n", "cannot read the tokens in link: No such file")
        self.refused("server: {audit: nowhere/audit.jsonl}\n", "server.audit: nowhere/audit.jsonl cannot be written: No such file")
        os.mkdir(os.path.join(self.folder, "folder"))
        self.refused("server: {audit: folder}\n", "server.audit: folder cannot be written: Is a directory")

    def test_namespaces_and_destinations(self):
        self.refused(f"server: {{namespaces: [{'s' * 65}]}}\n", "use 1 to 64 bytes")
        self.refused("server: {may_call: ['10.0.0.0/99']}\n", 'allowed destination "10.0.0.0/99"')

    def test_webhooks(self):
        self.write("secrets", "whsec_" + "A" * 43 + "=\n")
        self.write("rubbish", "sesame\n")
        pay = "handlers: {pay: {url: '%s', secrets_file: %s}}\n"
        self.refused("handlers: {pay: {url: 'https://shop.example/pay'}}\n", 'handler "pay" has a url but no secrets_file')
        self.refused(pay % ("https://shop.example/pay", "none"), "none contains no secret for signing webhooks")
        self.refused(pay % ("https://shop.example/pay", "rubbish"), "rubbish:1: ")
        self.refused(pay % ("https://ann:geheim@shop.example/pay", "secrets"), 'handler "pay": this URL cannot be called: it contains a user')

    def test_a_webhook_to_an_address_that_may_not_be_called(self):
        self.write("secrets", "whsec_" + "A" * 43 + "=\n")
        pay = "handlers: {pay: {url: '%s', secrets_file: secrets}}\n"
        self.refused(pay % "http://10.1.2.3/pay", 'handler "pay": 10.1.2.3 may not be called: it is a private network (10.0.0.0/8). '
                                                  "If this is intended, add 10.1.2.3 to server.may_call")
        self.refused(pay % "http://[::1]:8080/pay", "add ::1 to server.may_call")
        self.refused(pay % "http://localhost:8080/pay", "add 127.0.0.1 or localhost to server.may_call")
        self.refused("server: {may_call: ['127.0.0.1:80']}\n" + pay % "http://127.0.0.1:8080/pay", "add 127.0.0.1 to server.may_call")
        for allowed, url in (("10.0.0.0/8", "http://10.1.2.3/pay"), ("localhost", "http://localhost:8080/pay"),
                             ("'::1'", "http://localhost:8080/pay"), ("10.0.0.0/8", "http://billing.internal/pay")):
            self.write("easyretry.yaml", f"server: {{may_call: [{allowed}]}}\n" + pay % url)
            self.assertEqual(self.problems(), [], (allowed, url))

    def test_the_address_for_all_other_handlers_is_checked_as_well(self):
        self.write("secrets", "whsec_" + "A" * 43 + "=\n")
        rest = "defaults: {url: '%s', secrets_file: secrets}\n"
        self.refused(rest % "http://10.2.2.2/x", "defaults.url: 10.2.2.2 may not be called: it is a private network (10.0.0.0/8). "
                                                 "If this is intended, add 10.2.2.2 to server.may_call")
        self.refused("defaults: {url: 'https://shop.example/x', secrets_file: none}\n", "none contains no secret for signing webhooks")
        self.write("easyretry.yaml", "server: {may_call: [10.0.0.0/8]}\n" + rest % "http://10.2.2.2/x")
        self.assertEqual(self.problems(), [])

    def test_handlers(self):
        self.refused("handlers: {pay: {retry_on: [CardRefused]}}\n", "CardRefused")
        many = "".join(f"  h{number:04}: {{max_attempts: 3}}\n" for number in range(1001))
        self.refused(f"handlers:\n{many}", '"h1000" would be handler number 1001')

    def test_alert_channels(self):
        rules = "rules: {late: {backlog_age: 10m, channels: [ops]}}"
        channel = "alerts: {channels: {ops: {%s}}, " + rules + "}\n"
        self.refused(channel % "type: webhook, url: 'https://oncall.example/x', secret_file: none",
                     "alerts.channels.ops: none contains no secret for signing webhooks")
        self.refused(channel % "type: slack, url: 'https://hooks.example:0/x'", "alerts.channels.ops: this URL cannot be called")
        self.refused(channel % "type: email, url: 'smtps://smtp.example:465', from: a@b.example, to: [c@d.example], user: ann, password_file: none",
                     "alerts.channels.ops: none cannot be read")
        for where in ("http://127.0.0.1:9/", "http://localhost:9/"):
            self.refused(channel % f"type: slack, url: '{where}'", "alerts.channels.ops: 127.0.0.1 may not be called: it is this machine itself")
        self.write("easyretry.yaml", "server: {may_call: [localhost]}\n" + channel % "type: slack, url: 'http://localhost:9/'")
        self.assertEqual(self.problems(), [])

    def test_all_problems_are_reported_at_once(self):
        self.refused("membership: everybody\nserver: {listen: '0.0.0.0:0', may_call: ['10.0.0.0/99'], audit: nowhere/x}\n"
                     "handlers: {pay: {url: 'https://shop.example/pay'}}\n",
                     "membership is", "which other machines can reach", "allowed destination", "server.audit", 'handler "pay"')

    def test_checks_that_need_the_running_machine_are_skipped_and_named(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.write("easyretry.yaml", f"server: {{listen: '127.0.0.1:{port}'}}\n")
            checked = self.run_program("config", "check")
            self.assertEqual(checked.returncode, 0, checked.stderr)
            self.assertIn("whether the listen address is free", checked.stderr)
            self.assertEqual(os.listdir(self.folder), ["easyretry.yaml"])
            self.assertIn("is another daemon running?", self.run_program("serve").stderr)

    def test_the_file_of_an_application_may_name_its_own_exceptions(self):
        self.write("application.yaml", "handlers: {pay: {retry_on: [CardRefused]}}\n")
        self.assertEqual(self.problems("application.yaml", "--application"), [])
        self.assertEqual(len(self.problems("application.yaml")), 1)
        self.write("application.yaml", "store: 'sqlite:retry.db?histori=all'\n")
        self.assertEqual(len(self.problems("application.yaml", "--application")), 1)


if __name__ == "__main__":
    unittest.main()
