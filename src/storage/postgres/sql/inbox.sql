-- Calls submitted by plain SQL: retry_inbox.

-- In the order of sql::read_inbox_row. $1 namespace, $2 handlers, $3 limit
-- name: inbox
SELECT
  id, method_name, params_json, task_key, business_type, business_id, traceparent, delay_ms, due_at, created_at
FROM retry_inbox
WHERE namespace = $1 AND refused_at IS NULL AND method_name = ANY($2::text[])
LIMIT $3
FOR UPDATE SKIP LOCKED;

-- $1 id, $2 why, $3 now
-- name: refuse_inbox
UPDATE retry_inbox SET error = $2, refused_at = $3 WHERE id = $1;

-- $1 ids
-- name: clear_inbox
DELETE FROM retry_inbox WHERE id = ANY($1::bigint[]);
