-- Due tasks. MariaDB has no LATERAL, so each shard has a SELECT of its own, all joined by UNION ALL (reads.cpp).
--
-- Claimable now, or when their time comes: a lease that has not run out by then excludes the task. Rows whose version or
-- status is corrupted are passed over: they could not be claimed, or their version could not grow. The last columns
-- are task::suspicion(), the class, and task::is_retried().

-- name: due
SELECT
  {shard}, id, version, next_retry_time, method_name,
  IF(status = 'RUNNING' OR crash_count > 0, crash_count + 1 + (status = 'RUNNING' AND locked_at IS NOT NULL), 0),
  task_class,
  attempt_count > 0 AND stage NOT IN ('ON_SUCCESS', 'ON_FINAL_FAILURE')
FROM {table} FORCE INDEX (idx_next_retry)
WHERE namespace = {namespace} AND shard = {shard}
  AND next_retry_time <= {until}
  AND version BETWEEN 1 AND 4611686018427387904
  AND (status = 'PENDING' OR (status = 'RUNNING' AND lease_until <= GREATEST(next_retry_time, {now})))
ORDER BY next_retry_time, id
LIMIT {limit};

-- After a cursor. Two ranges of the index, so that a page costs nothing for earlier tasks that are due in the same
-- millisecond.
-- name: due_after
SELECT
  {shard}, id, version, next_retry_time, method_name,
  IF(status = 'RUNNING' OR crash_count > 0, crash_count + 1 + (status = 'RUNNING' AND locked_at IS NOT NULL), 0),
  task_class,
  attempt_count > 0 AND stage NOT IN ('ON_SUCCESS', 'ON_FINAL_FAILURE')
FROM {table} FORCE INDEX (idx_next_retry)
WHERE namespace = {namespace} AND shard = {shard}
  AND ((next_retry_time = {from} AND id > {after} AND next_retry_time <= {until})
    OR (next_retry_time > {from} AND next_retry_time <= {until}))
  AND version BETWEEN 1 AND 4611686018427387904
  AND (status = 'PENDING' OR (status = 'RUNNING' AND lease_until <= GREATEST(next_retry_time, {now})))
ORDER BY next_retry_time, id
LIMIT {limit};

-- The facts that a load needs besides the due tasks: the time, whether the inbox has calls of the handlers,
-- total_shards, the layout.
-- name: glance
SELECT
  {now},
  EXISTS (
    SELECT 1 FROM retry_inbox FORCE INDEX (idx_waiting)
    WHERE namespace = {namespace} AND refused_at IS NULL AND method_name IN ({handlers})),
  (SELECT value FROM retry_meta WHERE name = 'total_shards'),
  (SELECT value FROM retry_meta WHERE name = 'layout');

-- The same as one row among those of `due`, marked by a shard that does not exist: time, inbox, 0, total_shards.
-- name: glance_among_due
SELECT
  -1,
  {now},
  EXISTS (
    SELECT 1 FROM retry_inbox FORCE INDEX (idx_waiting)
    WHERE namespace = {namespace} AND refused_at IS NULL AND method_name IN ({handlers})),
  0,
  (SELECT value FROM retry_meta WHERE name = 'total_shards'),
  0,
  NULL,
  0;
