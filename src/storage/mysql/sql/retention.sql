-- Ended tasks whose handlers keep them for a shorter time than the store.

-- By the index over finished_at, in its order. No hint: a table of an early release may lack the index.
-- name: ended
SELECT id, finished_at,
  namespace = {namespace} AND method_name IN ({handlers}) AND outcome NOT IN ('QUARANTINED', 'PARKED')
FROM {table}
WHERE finished_at >= {from} AND finished_at < {until}
ORDER BY finished_at
LIMIT {limit};

-- name: remove_arguments
UPDATE JSON_TABLE('[{ids}]', '$[*]' COLUMNS (id BIGINT PATH '$')) AS n
  STRAIGHT_JOIN {table} AS t FORCE INDEX (PRIMARY) ON t.id = n.id
SET t.params_json = '';

-- name: retention_marks
SELECT namespace, method_name, tasks_until, params_until FROM retry_retention;

-- {rows}: (namespace, method_name, tasks_until, params_until), ascending; 0 leaves a time as it is.
-- name: mark_retention
INSERT INTO retry_retention (namespace, method_name, tasks_until, params_until) VALUES {rows}
ON DUPLICATE KEY UPDATE
  tasks_until = GREATEST(tasks_until, VALUES(tasks_until)),
  params_until = GREATEST(params_until, VALUES(params_until));
