-- New rows, and the keys that they take. Batches come as arrays, one per column, in the order of the keys.

-- Values that are the same in all rows come once, the others as arrays (RowColumns in params.h). For two tasks that
-- differ in id and key it is
--   INSERT INTO retry_task (id, namespace, task_key, method_name, ...)
--   SELECT b.id, $2::text, b.task_key, $4::text, ... FROM unnest($1::bigint[], $3::text[]) AS b(id, task_key)
--   WHERE NOT EXISTS (SELECT 1 FROM retry_task_history_202603 h WHERE h.id = b.id) ON CONFLICT DO NOTHING RETURNING id
-- {unless_ended} is insert_unless_ended or nothing, {on_conflict} is ON CONFLICT DO NOTHING or nothing (NewKeys).
-- name: insert
INSERT INTO {table} ({columns})
SELECT {values} FROM unnest({arrays}) AS b({varying})
{unless_ended}
{on_conflict}
RETURNING id;

-- name: insert_unless_ended
WHERE NOT EXISTS (SELECT 1 FROM {history} h WHERE h.id = b.id);

-- By the unique index on the key. $1 namespaces, $2 keys
-- name: live_keys
SELECT t.namespace, t.task_key, t.id, t.version, t.next_retry_time
FROM (SELECT DISTINCT k_namespace, k_key FROM unnest($1::text[], $2::text[]) AS k(k_namespace, k_key)) AS k
JOIN {table} t ON t.namespace = k.k_namespace AND t.task_key = k.k_key;

-- $1 ids, $2 namespaces, $3 keys
-- name: take_keys
INSERT INTO retry_task_key (id, namespace, task_key)
SELECT id, namespace, task_key FROM unnest($1::bigint[], $2::text[], $3::text[]) AS b(id, namespace, task_key)
{on_conflict}
RETURNING id;

-- $1 namespaces, $2 keys
-- name: key_holders
SELECT t.namespace, t.task_key, t.id
FROM (SELECT DISTINCT k_namespace, k_key FROM unnest($1::text[], $2::text[]) AS k(k_namespace, k_key)) AS k
JOIN retry_task_key t ON t.namespace = k.k_namespace AND t.task_key = k.k_key;

-- $1 ids, ascending, $2 maximal attempts, $3 durations, $4 deadlines, $5 backoffs
-- name: update_rules
UPDATE {table} t
SET max_attempts = ($2::bigint[])[width_bucket(t.id, $1::bigint[])],
  max_retry_duration = ($3::bigint[])[width_bucket(t.id, $1::bigint[])],
  deadline = ($4::bigint[])[width_bucket(t.id, $1::bigint[])],
  backoff_strategy = ($5::text[])[width_bucket(t.id, $1::bigint[])]
WHERE t.id = ANY($1::bigint[]);
