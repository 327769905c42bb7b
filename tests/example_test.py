#!/usr/bin/env python3
"""example_test.py PROGRAM SOURCE [URL_FILE [by_url]]: an example prints what the comment at its end says.

An example that needs a database server gets HOST PORT USER PASSWORD DATABASE from the URL in the file or, with by_url, the URL."""
import difflib
import pathlib
import subprocess
import sys
import urllib.parse


def promised(source):
    text = source.read_text()
    _, found, comment = text.rpartition("\n// Prints:\n")
    if not found:
        sys.exit(f"{source} does not end with a comment // Prints:")
    return [line.removeprefix("//").removeprefix(" ").rstrip() for line in comment.splitlines()]


def place(file, *by_url):
    text = pathlib.Path(file).read_text().strip()
    url = urllib.parse.urlsplit(text)
    return [text] if by_url else [url.hostname, str(url.port), url.username, url.password, url.path.lstrip("/")]


def main():
    program, source, *server = sys.argv[1], pathlib.Path(sys.argv[2]), *filter(None, sys.argv[3:])
    command = [program, *(place(*server) if server else [])]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=50, check=True)
    printed = [line.rstrip() for line in run.stdout.splitlines()]
    difference = list(difflib.unified_diff(promised(source), printed, "promised", "printed", lineterm=""))
    print("\n".join(difference))
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main())
