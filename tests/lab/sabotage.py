"""A broken engine, to show that a real run notices. Triggers on PostgreSQL undo what the engine's statements do, so the fleet behaves as
if its statements lacked that part, or wrote something else.

Not broken here: refused_but_stored, because a trigger cannot refuse a transaction and keep it; untold, because a callback is not a
statement; quarantine and the times (slow_recovery, slow_return), because a short run has too few deaths of one task and is patient.
checker_test.py breaks those."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from waiting import until  # noqa: E402

# The invariant that has to be found broken, when the trigger runs, and what it does. HISTORY: on the tables of tasks that have ended.
HISTORY = "BEFORE INSERT ON history"
SABOTAGE = {
    # A renewal does not extend the lease.
    "overlap": ("BEFORE UPDATE", "IF NEW.version = OLD.version AND NEW.status = 'RUNNING' THEN NEW.lease_until = OLD.lease_until; END IF;"),
    # An insert is answered, and its row is gone.
    "lost": ("AFTER INSERT", "IF NEW.task_key LIKE 'plain-%7' THEN DELETE FROM retry_task WHERE id = NEW.id; END IF;"),
    # A claim does not count the attempt.
    "attempts": ("BEFORE UPDATE", "IF NEW.delivery_count < 8 THEN NEW.attempt_count = least(NEW.attempt_count, 1); END IF;"),
    # A task that ended is stored again.
    "ended_twice": ("AFTER DELETE", """IF OLD.generation = 0 AND OLD.task_key LIKE 'once-%' THEN
        OLD.id = OLD.id + 1024 * 64; OLD.generation = 1; OLD.status = 'PENDING'; OLD.lease_until = 0;
        INSERT INTO retry_task SELECT OLD.*; END IF;"""),
    # An insert stores another task, too.
    "invented": ("AFTER INSERT", """IF NEW.task_key LIKE 'plain-%4' AND NEW.task_key NOT LIKE '%-and-%' THEN
        NEW.id = NEW.id + 1024 * 64; NEW.task_key = NEW.task_key || '-and-4';
        INSERT INTO retry_task SELECT NEW.*; END IF;"""),
    # A claim takes a task that is due in five seconds.
    "early": ("BEFORE UPDATE", """IF NEW.version > OLD.version AND NEW.status = 'RUNNING' AND NEW.task_key LIKE 'plain-%2' THEN
        NEW.next_retry_time = NEW.next_retry_time + 5000; END IF;"""),
    # A settlement writes another outcome than it was told.
    "wrong_end": (HISTORY, "IF NEW.task_key LIKE 'plain-%3' THEN NEW.outcome = 'REJECTED'; END IF;"),
    "ended_without_running": (HISTORY, "IF NEW.task_key LIKE 'never-%' THEN NEW.outcome = 'SUCCEEDED'; END IF;"),
    # A settlement is that of an earlier claim.
    "late_finisher": (HISTORY, "IF NEW.task_key LIKE 'plain-%5' THEN NEW.version = NEW.version - 1; END IF;"),
}


def sabotage(store, *names):
    """Breaks these parts of the engine's statements."""
    until(lambda: store.run("SELECT to_regclass('retry_task')"), what="no member has created the tables")
    history = store.run("SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'retry%history%'").split()
    for name in names:
        when, body = SABOTAGE[name]
        store.run(f"CREATE FUNCTION break_{name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN coalesce(NEW, OLD); END $$;")
        for table in history if when == HISTORY else ["retry_task"]:
            store.run(f"CREATE TRIGGER break_{name} {when.partition(' ON ')[0]} ON {table} FOR EACH ROW EXECUTE FUNCTION break_{name}();")
