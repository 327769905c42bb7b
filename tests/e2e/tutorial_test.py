"""Runs every command of docs/tutorial.md, in the order of the page, and compares what it prints with the page.
Usage: tutorial_test.py EASYRETRY_PROGRAM TUTORIAL_PROGRAM

On the page, … stands for any text, a line … for any lines, and an id for the id that this run has in its place: a later command
that names it gets the real one. Runs of spaces count as one space. All of stdout is on the page; lines on stderr may be left out."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

from waiting import until

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/tutorial.md"
EASYRETRY, TUTORIAL = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
# The build of this test has run these already, in its own folder.
BUILT = ["tools/setup build", "tools/build release easyretry_program tutorial"]
ID = re.compile(r"\b\d{18}\b")
PATIENCE = 60  # seconds


def steps(page):
    """(command, lines it prints) in order."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", page, re.M | re.S):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


class Shell:
    """One bash for all commands, as a reader has one terminal. The output of each command goes to its own files."""

    def __init__(self, folder, environment):
        self.folder, self.count = pathlib.Path(folder), 0
        self.bash = subprocess.Popen(["bash"], stdin=subprocess.PIPE, cwd=folder, env=environment, text=True,
                                     start_new_session=True)

    def run(self, command):
        """Returns when the command has ended. A command that ends in & is left running."""
        self.count += 1
        place = self.folder / f"command-{self.count}"
        self.bash.stdin.write(f"{{ {command}\n}} >'{place}.out' 2>'{place}.err' </dev/null\ntouch '{place}.ended'\n")
        self.bash.stdin.flush()
        until(place.with_suffix(".ended").exists, PATIENCE, f"it does not end: {command}")
        return lambda: [place.with_suffix(kind).read_text().splitlines() for kind in (".out", ".err")]

    def end(self):
        os.killpg(self.bash.pid, signal.SIGKILL)
        self.bash.wait()
        self.bash.stdin.close()


class Tutorial(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        build = pathlib.Path(self.folder.name, "easyretry/build/release")
        (build / "examples").mkdir(parents=True)
        (build / "easyretry").symlink_to(EASYRETRY)
        (build / "examples/tutorial").symlink_to(TUTORIAL)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("EASYRETRY_")}
        self.shell = Shell(self.folder.name, {**environment, "EASYRETRY_SERVER_LISTEN": f"127.0.0.1:{self.port}"})
        self.ids = {}  # {id on the page: id in this run}

    def tearDown(self):
        self.shell.end()
        self.folder.cleanup()

    def real(self, command):
        """The command with the ids of this run and with a free port for the daemon."""
        command = ID.sub(lambda found: self.ids[found.group()], command).replace("127.0.0.1:7077", f"127.0.0.1:{self.port}")
        if command.startswith("easyretry serve"):
            return command + " &"
        if command.startswith("easyretry ") and "--store" not in command:
            return f"{command} --server http://127.0.0.1:{self.port}"
        return command

    def matches(self, line, printed):
        """Whether the line of the page matches the printed one. It may introduce a new id."""
        line, printed = (" ".join(text.split()) for text in (line.replace("7077", str(self.port)), printed))
        pattern = re.sub(r" ?… ?", r".*", re.sub(r"[^\w\s…]", lambda sign: "\\" + sign.group(), line))
        new = [id for id in dict.fromkeys(ID.findall(line)) if id not in self.ids]
        for id in ID.findall(line):
            pattern = pattern.replace(id, r"(\d{18})" if id in new else self.ids[id], 1)
        found = re.fullmatch(pattern, printed)
        if found:
            self.ids.update(zip(new, found.groups()))
        return bool(found)

    def difference(self, page, out, err):
        """How the page and the output differ; empty if they agree."""
        out, err, skipping = list(out), list(err), False
        for line in page:
            if line == "…":
                skipping = True
                continue
            while skipping and out and not self.matches(line, out[0]):
                out.pop(0)
            skipping = False
            if out and self.matches(line, out[0]):
                out.pop(0)
            elif any(self.matches(line, each) for each in err):
                continue
            else:
                return f"the page has:   {line}\nthe program:    {out[0] if out else '(no more lines)'}"
        return f"the page leaves out: {out[0]}" if out and not skipping else ""

    def follow(self, command, page):
        printed = self.shell.run(self.real(command))
        seconds = PATIENCE if command.startswith("easyretry serve") else 0
        until(lambda: not self.difference(page, *printed()), seconds,
              lambda: f"$ {command}\n{self.difference(page, *printed())}\n" + "\n".join(printed()[1]))

    def test_every_command_prints_what_the_page_says(self):
        commands = steps(PAGE.read_text())
        self.assertGreater(len(commands), 20)
        self.assertEqual([command for command, _ in commands if command in BUILT], BUILT)
        for command, page in commands:
            if command not in BUILT:
                self.follow(command, page)


if __name__ == "__main__":
    unittest.main()
