"""Real Nacos servers for servers.py: standalone, on loopback, with authentication.

The Nacos project publishes no server to Maven repositories, but other projects publish builds of the same source there. They are
used for tests only, in pinned versions. Maven's own configuration says where to download from; the user's cache keeps the result.

Run as a program, nacos_kind.py downloads everything that the tests need of Nacos. If it cannot, it says why and exits with 1.
"""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request

from problem import Problem

HERE = pathlib.Path(__file__).parent
GET_SECONDS = 600  # for a download of 150 MB
FIRST_JAR = "hessian-4.0.63.jar"  # goes first on the class path; from the other version there, only classes that this one lacks may be used
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>easyretry.tests</groupId><artifactId>nacos</artifactId><version>1</version>
  <dependencyManagement><dependencies><dependency>
    <groupId>org.springframework.boot</groupId><artifactId>spring-boot-dependencies</artifactId><version>{boot}</version>
    <type>pom</type><scope>import</scope>
  </dependency></dependencies></dependencyManagement>
  <dependencies>{dependencies}</dependencies>
</project>
"""
# The key protects nothing: any client that reaches this server may do everything.
# Its own database gets a minute to open: after the usual 3 s, Nacos gives up on a busy machine.
PROPERTIES = """server.servlet.contextPath=/nacos
server.address=127.0.0.1
nacos.server.contextPath=/nacos
nacos.core.auth.system.type=nacos
nacos.core.auth.enabled=true
nacos.core.auth.admin.enabled=true
nacos.core.auth.console.enabled=false
nacos.core.auth.caching.enabled=false
nacos.core.auth.plugin.nacos.token.secret.key=VGhpcyBrZXkgaXMgZm9yIHRlc3RzIG9ubHksIG9mIG5vIHZhbHVl
nacos.core.auth.server.identity.key=easyretry
nacos.core.auth.server.identity.value=tests
nacos.naming.push.pushTaskDelay=100
nacos.istio.mcp.server.enabled=false
nacos.k8s.sync.enabled=false
db.pool.config.connectionTimeout=60000
management.metrics.export.elastic.enabled=false
management.metrics.export.influx.enabled=false
management.elastic.metrics.export.enabled=false
management.influx.metrics.export.enabled=false
"""


class Nacos:
    """Nacos 2.3.2, which creates its user itself."""
    version = "2.3.2"
    boot = "2.7.18"
    artifacts = [f"org.jeecgframework.nacos:nacos-console:{version}"]
    port_property = "server.port"
    main = ["com.alibaba.nacos.Nacos"]
    readiness = "/v1/console/health/readiness"

    url = "http://nacos:nacos@127.0.0.1:{port}/nacos"
    ports = (0, 1000, 1001, -1000)  # HTTP, gRPC for clients and for servers, Raft
    pid_file = "nacos.pid"  # Nacos writes no such file
    clean_stop = signal.SIGTERM

    def __init__(self):
        self.java = program("java", "default-jre-headless")

    def create(self, data, _):
        jars = get_jars(self)
        (data / "lib").mkdir()
        for jar in jars.iterdir():
            link_or_copy(jar, data / "lib" / jar.name)
        (data / "conf").mkdir()
        (data / "conf/application.properties").write_text(PROPERTIES)

    def command(self, folder, port, memory, _):
        data = folder / "data"
        return [self.java, "-Xms64m", f"-Xmx{max(memory, 384)}m", "-XX:TieredStopAtLevel=1",
                "-Dnacos.standalone=true", f"-Dnacos.home={data}/home", "-Dnacos.server.ip=127.0.0.1",
                f"-D{self.port_property}={port}", f"-Djava.io.tmpdir={data}", f"-Duser.home={data}",
                "-cp", f"{data}/conf:{data}/lib/{FIRST_JAR}:{data}/lib/*", *self.main]

    def answers(self, _, port):
        with contextlib.suppress(OSError):
            return ask(port, self.readiness) == 200
        return False


class Nacos3(Nacos):
    """Nacos 3.1.0, which has no main class of its own and creates no user."""
    version = "3.1.0-bugfix"
    boot = "3.4.4"
    artifacts = [f"io.github.pig-mesh.nacos:nacos-server:{version}", "org.apache.derby:derbytools:10.16.1.1"]
    port_property = "nacos.server.main.port"
    main = ["StartNacos3.java"]
    readiness = "/v3/admin/core/state/readiness"

    def __init__(self):
        super().__init__()
        program("javac", "default-jdk-headless")  # java compiles the launcher

    def create(self, data, run):
        super().create(data, run)
        shutil.copyfile(HERE / "StartNacos3.java", data / "StartNacos3.java")

    def answers(self, folder, port):
        if not super().answers(folder, port):
            return False
        with contextlib.suppress(urllib.error.HTTPError):  # 409: the user exists already
            ask(port, "/v3/auth/user/admin", {"password": "nacos"})
        return True


class Client:
    """The official Nacos client for Java. It serves as a witness."""
    version = "client-2.5.1"
    boot = "2.7.18"
    artifacts = ["com.alibaba.nacos:nacos-client:2.5.1", "org.slf4j:slf4j-nop:1.7.36"]


def ask(port, path, form=None):
    # Ignore a proxy in the environment.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    body = urllib.parse.urlencode(form).encode() if form else None
    return opener.open(f"http://127.0.0.1:{port}/nacos{path}", body, timeout=5).status


def program(name, package):
    found = shutil.which(name)
    if not found:
        raise Problem(f"{name} is not installed: apt-get install {package}")
    return found


def get_jars(kind):
    """The folder of the server's jars. It is either complete or does not exist."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "easyretry"
    jars = cache / f"nacos-{kind.version}"
    if jars.exists():
        return jars
    maven = program("mvn", "maven")
    print(f"Getting Nacos {kind.version} with Maven, once…", file=sys.stderr)
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as unfinished:
        dependencies = "".join(map(dependency, kind.artifacts))
        (pathlib.Path(unfinished) / "pom.xml").write_text(POM.format(boot=kind.boot, dependencies=dependencies))
        download(maven, unfinished)
        with contextlib.suppress(FileExistsError, OSError):  # another process was faster
            (pathlib.Path(unfinished) / "lib").rename(jars)
    return jars


def dependency(artifact):
    group, name, version = artifact.split(":")
    return (f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId>"
            f"<version>{version}</version></dependency>")


def download(maven, folder):
    command = [maven, "-B", "-q", "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=lib"]
    try:
        done = subprocess.run(command, cwd=folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=GET_SECONDS)
    except subprocess.TimeoutExpired as slow:
        raise Problem(f"Maven has not got Nacos within {GET_SECONDS} s") from slow
    if done.returncode != 0:
        raise Problem("Maven cannot get Nacos:\n" + "\n".join(done.stdout.splitlines()[-15:]))


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copyfile(source, target)


def main():
    try:
        program("javac", "default-jdk-headless")
        for kind in (Nacos, Nacos3, Client):
            get_jars(kind)
    except Problem as problem:
        print(problem)
        sys.exit(1)


if __name__ == "__main__":
    main()
