-- Results that are kept for a while: retry_result. find_ended (find.sql) reads them.

-- $1 ids, $2 until, $3 results
-- name: keep_results
INSERT INTO retry_result (id, keep_until, result_json)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[])
ON CONFLICT DO NOTHING;

-- SKIP LOCKED: several instances may drop at once.
-- $1 now, $2 limit
-- name: drop_results
DELETE FROM retry_result WHERE id IN (
  SELECT id FROM retry_result WHERE keep_until <= $1 ORDER BY keep_until LIMIT $2 FOR UPDATE SKIP LOCKED)
RETURNING id;
