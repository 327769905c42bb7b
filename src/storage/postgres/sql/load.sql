-- Due tasks: by the due index, one lane after the other. A lane is a namespace and a shard (params.h). Two namespaces
-- may share one, so the namespace is compared as well.
--
-- A row whose version is out of range is corrupted or was edited manually. It is passed over: it could not be claimed,
-- or its version could not be raised. suspicion is task::suspicion(),
-- retried is task::is_retried().

-- $1 lanes, $2 times after which each continues, $3 ids, likewise, $4 namespace, $5 until, $6 now, $7 limit per lane
-- name: due
SELECT b.b_lane, l.id, l.version, l.next_retry_time, l.method_name, l.scan_time, l.suspicion, l.task_class,
  l.retried
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS b(b_lane, b_time, b_id),
LATERAL (
  SELECT id, version, next_retry_time, method_name, scan_time, task_class,
    CASE WHEN status = 'RUNNING' OR crash_count > 0
      THEN crash_count::bigint + 1 + (status = 'RUNNING' AND locked_at IS NOT NULL)::int ELSE 0 END AS suspicion,
    (attempt_count > 0 AND stage NOT IN ('ON_SUCCESS', 'ON_FINAL_FAILURE'))::int::bigint AS retried
  FROM {table} t
  WHERE t.lane = b.b_lane::int
    AND t.namespace = $4
    AND t.scan_time <= $5
    AND t.next_retry_time <= $5
    AND (t.scan_time, t.id + 0) > (b.b_time, b.b_id)
    AND t.version BETWEEN 1 AND 4611686018427387904
    AND (t.status = 'PENDING' OR (t.status = 'RUNNING' AND t.lease_until <= greatest($6, t.next_retry_time)))
  ORDER BY t.scan_time, t.id + 0
  LIMIT $7
) l;

-- The server's time, whether the inbox has calls, total_shards, layout.
-- $1 namespace, $2 handlers, $3 now, or NULL for the server's time
-- name: glance
SELECT
  coalesce($3, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint),
  EXISTS (
    SELECT FROM retry_inbox WHERE namespace = $1 AND refused_at IS NULL AND method_name = ANY($2::text[])
  )::int::bigint,
  (SELECT value FROM retry_meta WHERE name = 'total_shards'),
  (SELECT value FROM retry_meta WHERE name = 'layout');

-- Both at once: the columns of due. The row without a lane has the server's time, the inbox, 0 and total_shards.
-- As due, but $5 is how far ahead, $6 is now, or NULL for the server's time, and $8 are the handlers
-- name: load
WITH clock AS MATERIALIZED (
  SELECT now, now + least($5, 9223372036854775807 - now) AS until
  FROM (SELECT coalesce($6, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now) AS c
)
SELECT
  NULL::bigint,
  now,
  EXISTS (
    SELECT FROM retry_inbox WHERE namespace = $4 AND refused_at IS NULL AND method_name = ANY($8::text[])
  )::int::bigint,
  0::bigint,
  (SELECT value FROM retry_meta WHERE name = 'total_shards'),
  0::bigint,
  0::bigint,
  NULL::smallint,
  0::bigint
FROM clock
UNION ALL
SELECT b.b_lane, l.id, l.version, l.next_retry_time, l.method_name, l.scan_time, l.suspicion, l.task_class,
  l.retried
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS b(b_lane, b_time, b_id),
LATERAL (
  SELECT id, version, next_retry_time, method_name, scan_time, task_class,
    CASE WHEN status = 'RUNNING' OR crash_count > 0
      THEN crash_count::bigint + 1 + (status = 'RUNNING' AND locked_at IS NOT NULL)::int ELSE 0 END AS suspicion,
    (attempt_count > 0 AND stage NOT IN ('ON_SUCCESS', 'ON_FINAL_FAILURE'))::int::bigint AS retried
  FROM {table} t
  WHERE t.lane = b.b_lane::int
    AND t.namespace = $4
    AND t.scan_time <= (SELECT until FROM clock)
    AND t.next_retry_time <= (SELECT until FROM clock)
    AND (t.scan_time, t.id + 0) > (b.b_time, b.b_id)
    AND t.version BETWEEN 1 AND 4611686018427387904
    AND (t.status = 'PENDING'
      OR (t.status = 'RUNNING' AND t.lease_until <= greatest((SELECT now FROM clock), t.next_retry_time)))
  ORDER BY t.scan_time, t.id + 0
  LIMIT $7
) l;
