-- Sums of tasks stored and ended. Transactions append theirs to retry_count_delta, so that none waits for another. They
-- are added up in retry_count later (fold_sums() in sql/housekeeping.h).

-- The values are in the text, so that it shares a round trip with the COMMIT that follows it.
-- name: insert_sums
INSERT INTO retry_count_delta (id, day, namespace, method_name, kind, tasks) VALUES {values};

-- $1 limit
-- name: take_sums
DELETE FROM retry_count_delta
WHERE id = ANY(ARRAY(SELECT id FROM retry_count_delta ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED))
RETURNING day, namespace, method_name, kind, tasks;

-- Day 0 is the sum of former days. $1 limit, $2 before this day
-- name: take_days
DELETE FROM retry_count
WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM retry_count WHERE day < $2 AND day <> 0 LIMIT $1 FOR UPDATE SKIP LOCKED))
RETURNING day, namespace, method_name, kind, tasks;

-- In the order of the keys: two instances that add to the same rows wait for each other, but never in a circle.
-- $1 days, $2 namespaces, $3 handlers, $4 kinds, $5 numbers of tasks
-- name: add_totals
INSERT INTO retry_count AS c (day, namespace, method_name, kind, tasks)
SELECT day, namespace, method_name, kind, tasks
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[])
  AS b(day, namespace, method_name, kind, tasks)
ON CONFLICT (day, namespace, method_name, kind) DO UPDATE SET tasks = c.tasks + excluded.tasks;

-- $1 namespace
-- name: read_counts
SELECT day, namespace, method_name, kind, sum(tasks)::bigint
FROM (
  SELECT day, namespace, method_name, kind, tasks FROM retry_count WHERE namespace = $1
  UNION ALL
  SELECT day, namespace, method_name, kind, tasks FROM retry_count_delta WHERE namespace = $1
) c
GROUP BY 1, 2, 3, 4;

-- name: has_sums
SELECT FROM retry_count_delta LIMIT 1;
