"""The clients of PostgreSQL and MariaDB, for a server's URL."""
import re
import subprocess


def run_sql(url, text):
    """Runs the statements. Returns the rows as text: one a line, without headings."""
    if url.startswith("postgres:"):
        client = ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1", url]
    else:
        user, password, host, port, database = re.match(r"mysql://(.*?):(.*?)@(.*?):(\d+)/(\w+)", url).groups()
        client = ["mariadb", f"--user={user}", f"--password={password}", f"--host={host}", f"--port={port}", "--batch",
                  "--skip-column-names", database]
    return subprocess.run(client, input=text, check=True, capture_output=True, text=True).stdout.strip()
