-- retry_count: sums of tasks stored and ended, for each day, namespace, handler and kind.

-- ?1 day, ?2 namespace, ?3 handler, ?4 kind, ?5 tasks
-- name: add_to_count
INSERT INTO retry_count (day, namespace, method_name, kind, tasks) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks;

-- ?1 before this day
-- name: take_days
DELETE FROM retry_count WHERE day <> 0 AND day < ?1 RETURNING day, namespace, method_name, kind, tasks;

-- ?1 namespace
-- name: counts
SELECT day, namespace, method_name, kind, tasks FROM retry_count WHERE namespace = ?1;
