-- Sums of tasks stored and ended, for each day, namespace, handler and kind. Every transaction appends its own to
-- retry_count_delta, so that none waits for another. They are added to retry_count later (fold_sums() in
-- sql/housekeeping.h).

-- name: insert_sums
INSERT INTO retry_count_delta (id, day, namespace, method_name, kind, tasks) VALUES {rows};

-- name: has_sums
SELECT 1 FROM retry_count_delta LIMIT 1;

-- remove_rows (settle.sql) then removes them.
-- name: lock_sums
SELECT day, namespace, method_name, kind, tasks, id
FROM retry_count_delta FORCE INDEX (PRIMARY)
ORDER BY id
LIMIT {limit}
FOR UPDATE SKIP LOCKED;

-- name: lock_days
SELECT day, namespace, method_name, kind, tasks
FROM retry_count FORCE INDEX (PRIMARY)
WHERE day < {before} AND day <> 0
LIMIT {limit}
FOR UPDATE SKIP LOCKED;

-- There are some once a day. Each is removed by a statement of its own, which locks no other row.
-- name: remove_day
DELETE FROM retry_count
WHERE day = {day} AND namespace = {namespace} AND method_name = {handler} AND kind = {kind};

-- {rows} are in the order of the primary key: two transactions that add to the same rows wait for each other, but do not
-- deadlock.
-- name: add_totals
INSERT INTO retry_count (day, namespace, method_name, kind, tasks) VALUES {rows}
ON DUPLICATE KEY UPDATE tasks = tasks + VALUES(tasks);

-- name: counts
SELECT day, namespace, method_name, kind, SUM(tasks)
FROM (
  SELECT day, namespace, method_name, kind, tasks FROM retry_count WHERE namespace = {namespace}
  UNION ALL
  SELECT day, namespace, method_name, kind, tasks FROM retry_count_delta WHERE namespace = {namespace}) AS c
GROUP BY day, namespace, method_name, kind;
