-- The tasks that were requeued, and as which task. A row goes with its task's row of history. Not a column of the
-- months: pages of a long history read indexes alone, and a condition on a column would read the rows.
-- name: migration_005
CREATE TABLE retry_requeued (id INTEGER PRIMARY KEY, requeued_as INTEGER NOT NULL);

-- The views of the months that are there lack the marks: they are made again.
-- name: drop_month_view
DROP VIEW IF EXISTS retry_task_history_{month};

-- A month with the calls and marks of its tasks, for users.
-- name: month_view
CREATE VIEW IF NOT EXISTS retry_task_history_{month} AS
SELECT *, 'FINISHED' AS status, finished_at AS updated_at
FROM retry_state_{month} LEFT JOIN retry_call USING (id) LEFT JOIN retry_requeued USING (id);
