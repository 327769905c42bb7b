"""A real Nacos for servers.py: standalone, on loopback, with authentication.

Nacos itself publishes no server to Maven's repositories; somebody else's build of the same source is there. It is used for
tests only, in a pinned version. Maven's own configuration says from where; the result is kept in the user's cache.
"""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import urllib.request

from problem import Problem

VERSION = "2.3.2"
FIRST_JAR = "hessian-4.0.63.jar"  # Nacos needs its classes; and of another version, which has some more, only those
GET_SECONDS = 600  # for 150 MB
POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>easyretry.tests</groupId><artifactId>nacos</artifactId><version>1</version>
  <dependencyManagement><dependencies><dependency>
    <groupId>org.springframework.boot</groupId><artifactId>spring-boot-dependencies</artifactId><version>2.7.18</version>
    <type>pom</type><scope>import</scope>
  </dependency></dependencies></dependencyManagement>
  <dependencies><dependency>
    <groupId>org.jeecgframework.nacos</groupId><artifactId>nacos-console</artifactId><version>{VERSION}</version>
  </dependency></dependencies>
</project>
"""
# The key is of no value: whoever reaches this server may do anything anyway.
PROPERTIES = """server.servlet.contextPath=/nacos
server.address=127.0.0.1
nacos.core.auth.system.type=nacos
nacos.core.auth.enabled=true
nacos.core.auth.caching.enabled=false
nacos.core.auth.plugin.nacos.token.secret.key=VGhpcyBrZXkgaXMgZm9yIHRlc3RzIG9ubHksIG9mIG5vIHZhbHVl
nacos.core.auth.server.identity.key=easyretry
nacos.core.auth.server.identity.value=tests
nacos.naming.push.pushTaskDelay=100
nacos.istio.mcp.server.enabled=false
management.metrics.export.elastic.enabled=false
management.metrics.export.influx.enabled=false
"""


class Nacos:
    url = "http://nacos:nacos@127.0.0.1:{port}/nacos"  # the user that it is made with
    ports = (0, 1000, 1001, -1000)  # HTTP, gRPC for clients and for servers, Raft
    pid_file = "nacos.pid"  # it writes none
    clean_stop = signal.SIGTERM

    def __init__(self):
        self.java = program("java", "default-jre-headless")

    def create(self, data, _):
        jars = get_jars()
        (data / "lib").mkdir()
        for jar in jars.iterdir():
            link_or_copy(jar, data / "lib" / jar.name)
        (data / "conf").mkdir()
        (data / "conf/application.properties").write_text(PROPERTIES)

    def command(self, folder, port, memory, _):
        data = folder / "data"
        return [self.java, "-Xms64m", f"-Xmx{max(memory, 384)}m", "-XX:TieredStopAtLevel=1",
                "-Dnacos.standalone=true", f"-Dnacos.home={data}/home", "-Dnacos.server.ip=127.0.0.1",
                f"-Dserver.port={port}", f"-Djava.io.tmpdir={data}", f"-Duser.home={data}",
                "-cp", f"{data}/conf:{data}/lib/{FIRST_JAR}:{data}/lib/*", "com.alibaba.nacos.Nacos"]

    def answers(self, _, port):
        with contextlib.suppress(OSError):
            address = f"http://127.0.0.1:{port}/nacos/v1/console/health/readiness"
            # Not by a proxy that the environment may name.
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            return opener.open(address, timeout=5).status == 200
        return False


def program(name, package):
    found = shutil.which(name)
    if not found:
        raise Problem(f"{name} is not installed: apt-get install {package}")
    return found


def get_jars():
    """The folder of the server's jars; whole, or not there."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "easyretry"
    jars = cache / f"nacos-{VERSION}"
    if jars.exists():
        return jars
    maven = program("mvn", "maven")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as unfinished:
        (pathlib.Path(unfinished) / "pom.xml").write_text(POM)
        download(maven, unfinished)
        with contextlib.suppress(FileExistsError, OSError):  # somebody else was quicker
            (pathlib.Path(unfinished) / "lib").rename(jars)
    return jars


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
