-- retry_inbox: calls that applications submit by plain SQL. Its names are characters: the server converts those of any
-- client to UTF-8.

-- The columns are those of read_inbox_row() (sql/session.h).
-- name: lock_inbox
SELECT id, method_name, params_json, task_key, business_type, business_id, traceparent, delay_ms, due_at, created_at
FROM retry_inbox FORCE INDEX (idx_waiting)
WHERE namespace = {namespace} AND refused_at IS NULL AND method_name IN ({handlers})
LIMIT {limit}
FOR UPDATE SKIP LOCKED;

-- name: refuse_call
UPDATE retry_inbox SET error = {error}, refused_at = {now} WHERE id = {id};

-- name: clear_inbox
DELETE FROM retry_inbox WHERE id IN ({ids});
