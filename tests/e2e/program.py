"""The program under test, which is the first argument of the script that imports this: as people run it."""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

PROGRAM = os.path.abspath(sys.argv.pop(1))


def run_program(*arguments, **more):
    return subprocess.run([PROGRAM, *arguments], **{"capture_output": True, "text": True, "timeout": 60, "check": False, **more})


def run_on_terminal(*arguments, columns=80, typed="", **more):
    """(exit code, text on a terminal with this many columns)"""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([PROGRAM, *arguments], **{"stdin": theirs, "stdout": theirs, "stderr": theirs, **more})
    os.close(theirs)
    os.write(ours, typed.encode())
    text = b""
    while True:
        try:
            text += os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
    os.close(ours)
    return process.wait(timeout=60), text.decode().replace("\r\n", "\n")


def bash_completions(line):
    """Returns the completions that bash offers for a line with the cursor at its end."""
    words = line.split(" ")
    ask = (f"COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; _easyretry; "
           'printf "%s\\n" "${COMPREPLY[@]}"')
    ran = subprocess.run(["bash", "-c", run_program("completion", "bash").stdout + ask], capture_output=True, text=True, check=True)
    assert ran.stderr == "", ran.stderr
    return set(ran.stdout.split())
