"""tracing_test.py, with every request also read by the official definitions of OTLP: official_otlp_test.py EASYRETRY_PROGRAM FOLDER

Installs the package opentelemetry-proto with pip into FOLDER the first time, and fails if that is not possible."""
import os
import pathlib
import subprocess
import sys

PACKAGE = "opentelemetry-proto==1.45.2"
PROGRAM = os.path.abspath(sys.argv[1])
FOLDER = pathlib.Path(sys.argv[2])
HERE = pathlib.Path(__file__).parent


def get_package():
    ready = FOLDER / PACKAGE
    if ready.exists():
        return
    for command in ([sys.executable, "-m", "venv", FOLDER], [FOLDER / "bin/python", "-m", "pip", "install", "--quiet", PACKAGE]):
        if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode != 0:
            sys.exit(f"{command[0]} failed: this test needs python3-venv and a way to PyPI")
    ready.touch()


if __name__ == "__main__":
    get_package()
    python = FOLDER / "bin/python"
    # Without it, tracing_test.py would pass with its own reader alone.
    subprocess.run([python, "-c", "import opentelemetry.proto.collector.trace.v1.trace_service_pb2"], check=True)
    sys.exit(subprocess.run([python, HERE / "tracing_test.py", PROGRAM], check=False).returncode)
