"""Child processes, each with its descendants in a group of its own, so that none outlives the run."""
import contextlib
import os
import signal
import subprocess

from harness.problem import Problem

SHOWN = 400  # characters of an error


class Children:
    def __init__(self):
        self.running = set()

    def run(self, command, patience, **more):
        """Returns its output. Raises Problem if it fails or takes longer than `patience` seconds."""
        child = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True, start_new_session=True, **more)
        self.running.add(child)
        try:
            output, errors = child.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            raise Problem(f"took longer than {patience} s") from None
        finally:
            self.end(child)
        if child.returncode:
            raise Problem(last_lines(errors or output) or f"ended with code {child.returncode}")
        return output

    def end(self, child):
        """Also kills what a finished child left running, such as worker processes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        for pipe in (child.stdout, child.stderr):
            pipe.close()
        self.running.discard(child)

    def end_all(self):
        for child in list(self.running):
            self.end(child)


def last_lines(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines[-3:])[:SHOWN]
