-- Ended tasks whose handlers keep them for a shorter time than the store.

-- By the index over finished_at, in its order.
-- $1 from, $2 until, $3 limit, $4 namespace, $5 handlers
-- name: ended
SELECT id, finished_at,
  (namespace = $4 AND method_name = ANY($5::text[]) AND outcome NOT IN ('QUARANTINED', 'PARKED'))::int
FROM {table} WHERE finished_at >= $1 AND finished_at < $2 ORDER BY finished_at LIMIT $3;

-- $1 ids
-- name: remove_arguments
UPDATE {table} SET params_json = NULL WHERE id = ANY($1::bigint[]);

-- name: retention_marks
SELECT namespace, method_name, tasks_until, params_until FROM retry_retention;

-- $1 namespace, $2 handlers, ascending, $3 tasks_until, $4 params_until; 0 leaves one as it is
-- name: mark_retention
INSERT INTO retry_retention AS r (namespace, method_name, tasks_until, params_until)
SELECT $1, b.handler, $3::bigint, $4::bigint FROM unnest($2::text[]) AS b (handler)
ON CONFLICT (namespace, method_name) DO UPDATE SET
  tasks_until = greatest(r.tasks_until, excluded.tasks_until),
  params_until = greatest(r.params_until, excluded.params_until);
