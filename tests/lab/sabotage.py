"""A broken engine, to show that a real run notices. Triggers on PostgreSQL undo what the engine's statements do, so the fleet behaves as
if its statements lacked that part."""
from waiting import until

# The invariant that has to be found broken, when the trigger runs, and what it does.
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
}


def sabotage(store):
    until(lambda: store.run("SELECT to_regclass('retry_task')"), what="no member has created the tables")
    for name, (when, body) in SABOTAGE.items():
        store.run(f"CREATE FUNCTION break_{name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {body} RETURN coalesce(NEW, OLD); END $$; "
                  f"CREATE TRIGGER break_{name} {when} ON retry_task FOR EACH ROW EXECUTE FUNCTION break_{name}();")
