"""The files in packaging: configurations that the program accepts, manifests that Kubernetes accepts, names that fit together.
Usage: packaging_test.py EASYRETRY_PROGRAM

Kubernetes' own objects are held against its schemas (tests/support/kubernetes_schema.py), a ServiceMonitor against a small one of the
fields that it uses. Whether images can be built and run is for image_test.py."""
import http.client
import json
import os
import pathlib
import re
import shlex
import ssl
import subprocess
import sys
import tempfile
import unittest

import yaml

from json_schema import Schemas

PROGRAM = os.path.abspath(sys.argv.pop(1))
ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
MANIFESTS = sorted((PACKAGING / "kubernetes").glob("*.yaml"))
POD = "127.0.0.3"  # stands for the address of a pod


def run(*command, **more):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **more)


def seconds(text):
    return int(text.removesuffix("s"))


def objects(file):
    """{kind: object} of a manifest."""
    return {one["kind"]: one for one in yaml.safe_load_all(file.read_text())}


def workload(file):
    """The Deployment or StatefulSet of a manifest."""
    found = objects(file)
    return found.get("Deployment") or found.get("StatefulSet")


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def configured(self, text):
        """The configuration as a file, with folders of this test instead of those of a machine."""
        for place in ("/etc/easyretry/tls", "/etc/easyretry/tokens", "/var/lib/easyretry"):
            (self.folder / place.lstrip("/")).mkdir(parents=True, exist_ok=True)
            text = text.replace(place, str(self.folder / place.lstrip("/")))
        file = self.folder / "easyretry.yaml"
        file.write_text(text)
        return file

    def certify(self):
        folder = self.folder / "etc/easyretry/tls"
        folder.mkdir(parents=True, exist_ok=True)
        made = run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                   "-subj", "/CN=easyretry", "-addext", "subjectAltName=DNS:easyretry", "-keyout", folder / "tls.key", "-out", folder / "tls.crt")
        self.assertEqual(made.returncode, 0, made.stderr)
        for file in folder.iterdir():
            file.chmod(0o440)  # as the volume of a secret has them

    def check(self, file, **environment):
        checked = run(PROGRAM, "config", "check", file, cwd=self.folder, env={**os.environ, **environment})
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)


class Configurations(InFolder):
    def test_of_the_package_is_accepted(self):
        self.check(self.configured((PACKAGING / "debian/easyretry.yaml").read_text()))

    def test_of_compose_is_accepted(self):
        store = "postgres://easyretry@postgres/easyretry"
        self.check(self.configured((PACKAGING / "compose/easyretry.yaml").read_text()), EASYRETRY_STORE=store)

    def test_of_kubernetes_is_accepted(self):
        self.certify()
        for file in MANIFESTS:
            if config := objects(file).get("ConfigMap"):
                with self.subTest(file.name):
                    self.check(self.configured(config["data"]["easyretry.yaml"]), EASYRETRY_SERVER_LISTEN=f"{POD}:7077")


class Kubernetes(InFolder):
    @staticmethod
    def problems(one):
        """What is wrong with an object, by the schema of its kind."""
        group, _, version = one["apiVersion"].rpartition("/")
        file, name = "kubernetes", f"io.k8s.api.{group or 'core'}.{version}.{one['kind']}"
        if group.endswith("coreos.com"):
            file = name = one["kind"]
        schemas = Schemas(json.loads((ROOT / f"tests/data/{file.lower()}.schema.json").read_text()))
        return schemas.problems(one, {"$ref": f"#/$defs/{name}"})

    def test_objects_are_valid(self):
        checked = 0
        for file in MANIFESTS:
            for one in yaml.safe_load_all(file.read_text()):
                with self.subTest(file.name, kind=one["kind"]):
                    self.assertEqual(self.problems(one), [])
                    checked += 1
        self.assertEqual(checked, 9)

    def test_a_misspelt_field_is_noticed(self):
        wrong = workload(PACKAGING / "kubernetes/postgres.yaml")
        wrong["spec"]["template"]["spec"]["containers"][0]["livenessProb"] = {}
        [problem] = self.problems(wrong)
        self.assertIn("livenessProb", problem)

    def test_a_wrong_field_of_a_service_monitor_is_noticed(self):
        for field, value in (("tlsconfig", {}), ("interval", "30 s"), ("scheme", "tls"), ("authorization", {"credentials": {"name": "easyretry"}})):
            wrong = objects(PACKAGING / "kubernetes/servicemonitor.yaml")["ServiceMonitor"]
            wrong["spec"]["endpoints"][0][field] = value
            self.assertEqual(len(self.problems(wrong)), 1, field)

    def test_names_fit_together(self):
        for file in MANIFESTS:
            found = objects(file)
            if "ServiceMonitor" in found:
                continue
            with self.subTest(file.name):
                template = workload(file)["spec"]["template"]
                labels = template["metadata"]["labels"]
                for selector in (workload(file)["spec"]["selector"]["matchLabels"], found["Service"]["spec"]["selector"],
                                 found["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"]):
                    self.assertLessEqual(selector.items(), labels.items())
                [container] = template["spec"]["containers"]
                volumes = {volume["name"] for volume in template["spec"]["volumes"]}
                volumes |= {claim["metadata"]["name"] for claim in workload(file)["spec"].get("volumeClaimTemplates", [])}
                self.assertEqual({mount["name"] for mount in container["volumeMounts"]}, volumes)
                ports = {port["name"] for port in container["ports"]}
                probes = [container[probe]["httpGet"]["port"] for probe in ("startupProbe", "livenessProbe", "readinessProbe")]
                self.assertLessEqual({*probes, found["Service"]["spec"]["ports"][0]["targetPort"]}, ports)
        [monitor] = yaml.safe_load_all((PACKAGING / "kubernetes/servicemonitor.yaml").read_text())
        service = objects(PACKAGING / "kubernetes/postgres.yaml")["Service"]
        [endpoint] = monitor["spec"]["endpoints"]
        self.assertLessEqual(monitor["spec"]["selector"]["matchLabels"].items(), service["metadata"]["labels"].items())
        self.assertEqual(endpoint["port"], service["spec"]["ports"][0]["name"])

    def test_an_instance_has_time_to_drain_and_cannot_change_its_image(self):
        for file in MANIFESTS:
            if not (work := workload(file)):
                continue
            with self.subTest(file.name):
                pod = work["spec"]["template"]["spec"]
                [container] = pod["containers"]
                drain = seconds(yaml.safe_load(objects(file)["ConfigMap"]["data"]["easyretry.yaml"])["drain"])
                [_, before] = container["lifecycle"]["preStop"]["exec"]["command"]
                self.assertGreaterEqual(pod["terminationGracePeriodSeconds"], drain + int(before) + 30)
                self.assertTrue(pod["securityContext"]["runAsNonRoot"] and container["securityContext"]["readOnlyRootFilesystem"])
                self.assertIn(f"--uid {pod['securityContext']['runAsUser']} ", (PACKAGING / "Containerfile").read_text())

    def test_a_daemon_with_this_configuration_answers_probes_and_scrapes_by_its_address(self):
        self.certify()
        text = objects(PACKAGING / "kubernetes/postgres.yaml")["ConfigMap"]["data"]["easyretry.yaml"]
        file = self.configured(text.replace("{format: json}", "{format: text}"))
        tokens = self.folder / "etc/easyretry/tokens/easyretry.tokens"
        token = run(PROGRAM, "token", "--tokens", tokens, "create", "prometheus", "--role", "viewer", "--namespace", "*").stdout.strip()
        tokens.chmod(0o440)
        environment = {**os.environ, "EASYRETRY_SERVER_LISTEN": f"{POD}:0", "EASYRETRY_STORE": "sqlite:retry.db"}
        daemon = subprocess.Popen([PROGRAM, "serve", "--config", file], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  text=True, env=environment)
        try:
            address = next(line for line in daemon.stdout if f"serves https://{POD}:" in line)
            port = int(address.strip().rpartition(":")[2])
            statuses = [self.ask(port, *question) for question in (
                ("/healthz", POD, ""), ("/readyz", POD, ""), ("/metrics", POD, token), ("/metrics", POD, ""),
                ("/readyz", "easyretry.default.svc", ""), ("/readyz", "other.example", ""))]
            self.assertEqual(statuses, [200, 200, 200, 401, 200, 421])
        finally:
            daemon.terminate()
            self.assertEqual(daemon.wait(timeout=60), 0)
            daemon.stdout.close()

    @staticmethod
    def ask(port, path, host, token):
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE  # as a kubelet does
        connection = http.client.HTTPSConnection(POD, port, timeout=30, context=trusting)
        try:
            connection.request("GET", path, headers={"Host": f"{host}:{port}", **({"Authorization": f"Bearer {token}"} if token else {})})
            return connection.getresponse().status
        finally:
            connection.close()


class Compose(unittest.TestCase):
    def setUp(self):
        self.folder = PACKAGING / "compose"
        self.services = yaml.safe_load((self.folder / "compose.yaml").read_text())["services"]

    def test_mounts_files_that_are_there_and_volumes_that_it_declares(self):
        declared = yaml.safe_load((self.folder / "compose.yaml").read_text())["volumes"].keys()
        for name, service in self.services.items():
            for volume in service["volumes"]:
                source = volume.split(":")[0]
                with self.subTest(name, volume=volume):
                    self.assertTrue((self.folder / source).is_file() if source.startswith(".") else source in declared)

    def test_prometheus_asks_for_a_name_that_the_daemon_accepts(self):
        hosts = yaml.safe_load((self.folder / "easyretry.yaml").read_text())["server"]["hosts"]
        [job] = yaml.safe_load((self.folder / "prometheus.yaml").read_text())["scrape_configs"]
        [target] = job["static_configs"][0]["targets"]
        host, _, port = target.partition(":")
        self.assertIn(host, hosts)
        self.assertIn(host, self.services)
        self.assertEqual(port, "7077")

    def test_no_port_is_open_to_other_machines(self):
        ports = [port for service in self.services.values() for port in service.get("ports", [])]
        self.assertEqual(len(ports), 3)
        for port in ports:
            self.assertTrue(port.startswith("127.0.0.1:"), port)


class Program(unittest.TestCase):
    def test_the_image_has_the_libraries_that_it_needs(self):
        needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", PROGRAM).stdout)
        loaded = dict(re.findall(r"(\S+) => (\S+)", run("ldd", PROGRAM).stdout))
        files = [os.path.realpath(loaded[name]) for name in needed if name in loaded]
        packages = set(re.findall(r"^(\S+?):\S*? ", run("dpkg", "-S", *files).stdout, re.M)) - {"libc6", "libgcc-s1"}
        [listed] = re.findall(r"^run: (.*)$", (ROOT / "tools/packages.txt").read_text(), re.M)
        self.assertEqual(set(listed.split()) - {"ca-certificates"}, packages)

    def test_the_unit_starts_it_with_the_configuration_of_the_package(self):
        [start] = re.findall(r"^ExecStart=(.*)$", (PACKAGING / "easyretry.service").read_text(), re.M)
        program, command, option, file = shlex.split(start)
        self.assertEqual((program, command, option), ("/usr/bin/easyretry", "serve", "--config"))
        self.assertEqual((PACKAGING / "debian/conffiles").read_text().split(), [file])


class MaintainerScripts(InFolder):
    def test_are_valid_and_can_be_run(self):
        for name in ("postinst", "prerm", "postrm"):
            script = PACKAGING / "debian" / name
            self.assertTrue(os.access(script, os.X_OK), name)
            self.assertEqual(run("sh", "-n", script).stderr, "")

    def ordered(self, name, versions, status=0):
        """What a script of the RPM package tells systemd, where it runs. After it there are so many versions of the package."""
        systemctl = self.folder / "systemctl"
        systemctl.write_text(f'#!/bin/sh\necho "$@"\nexit {status}\n')
        systemctl.chmod(0o755)
        script = (PACKAGING / "rpm" / name).read_text()
        self.assertIn("/run/systemd/system", script)
        ran = run("sh", "-ec", script.replace("/run/systemd/system", str(self.folder)), name, str(versions),
                  env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"})
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout.splitlines()

    def test_of_rpm_restart_a_running_daemon_after_an_upgrade(self):
        reload, restart = "--system daemon-reload", "try-restart easyretry.service"
        self.assertEqual(self.ordered("post", 2), [reload])
        self.assertEqual(self.ordered("preun", 1), [])
        self.assertEqual(self.ordered("postun", 1), [reload, restart])
        self.assertEqual(self.ordered("postun", 1, status=1), [reload, restart])

    def test_of_rpm_do_not_start_the_daemon_and_stop_it_before_it_is_removed(self):
        self.assertEqual(self.ordered("post", 1), ["--system daemon-reload"])
        self.assertEqual(self.ordered("preun", 0), ["--no-reload disable --now easyretry.socket easyretry.service"])
        self.assertEqual(self.ordered("postun", 0), ["--system daemon-reload"])


if __name__ == "__main__":
    unittest.main()
