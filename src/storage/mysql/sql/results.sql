-- retry_result: results that are kept for a while. ended_records (find.sql) reads them.

-- {rows}: (id, keep_until, result_json).
-- name: keep_results
INSERT INTO retry_result (id, keep_until, result_json) VALUES {rows}
ON DUPLICATE KEY UPDATE id = retry_result.id;

-- name: drop_results
DELETE FROM retry_result WHERE keep_until <= {now} ORDER BY keep_until LIMIT {limit};
