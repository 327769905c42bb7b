-- retry_pause: handlers whose tasks are not claimed.

-- name: pause
INSERT INTO retry_pause (namespace, method_name, since, why) VALUES ({namespace}, {handler}, {since}, {why})
ON DUPLICATE KEY UPDATE why = why;

-- name: count_paused
SELECT COUNT(*) FROM retry_pause WHERE namespace = {namespace};

-- name: resume
DELETE FROM retry_pause WHERE namespace = {namespace} AND method_name = {handler};

-- Gives the time even if nothing is paused.
-- name: paused
SELECT {now}, method_name, since, why
FROM (SELECT 1 AS one) AS clock LEFT JOIN retry_pause ON namespace = {namespace}
ORDER BY method_name;
