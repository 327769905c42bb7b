-- Handlers that are paused: retry_pause.

-- $1 namespace, $2 handler, $3 since, $4 why
-- name: pause
INSERT INTO retry_pause (namespace, method_name, since, why) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING 1;

-- $1 namespace
-- name: count_pauses
SELECT count(*) FROM retry_pause WHERE namespace = $1;

-- $1 namespace, $2 handler
-- name: resume
DELETE FROM retry_pause WHERE namespace = $1 AND method_name = $2 RETURNING 1;

-- Returns the time even if nothing is paused. $1 namespace, $2 now, or NULL for the server's time
-- name: paused
SELECT coalesce($2, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint), method_name, since, why
FROM (SELECT) AS clock LEFT JOIN retry_pause ON namespace = $1
ORDER BY method_name;
