-- Instances that say they are alive: retry_member.

-- An instance that is back after it was taken for dead has joined again. A dead row that is locked is about to be alive
-- again, or is being removed by another instance. Two instances that are back at the same time must not wait for each
-- other, so each writes its own row before it looks for dead ones. A beat is repeated every few seconds, so a power cut
-- may take it, unless an instance relies on it.
-- $1 namespace, $2 node, $3 now, or NULL for the server's time, $4 time to live, $5 what the member says, $6 is 1 if it is
-- relied on
-- name: beat
WITH clock AS MATERIALIZED (
  SELECT
    set_config('synchronous_commit', CASE WHEN $6 = 1 THEN current_setting('synchronous_commit') ELSE 'off' END, true),
    coalesce($3, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now
), me AS (
  INSERT INTO retry_member AS m (namespace, node, since, alive_until, says)
  SELECT $1, $2, now, now + least($4, 9223372036854775807 - now), $5 FROM clock
  ON CONFLICT (namespace, node) DO UPDATE SET
    alive_until = excluded.alive_until,
    says = excluded.says,
    since = CASE WHEN m.alive_until <= excluded.since THEN excluded.since ELSE m.since END
  RETURNING node, since, says
), dead AS (
  DELETE FROM retry_member
  WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM retry_member
    WHERE namespace = $1 AND node <> (SELECT node FROM me) AND alive_until <= (SELECT now FROM clock)
    FOR UPDATE SKIP LOCKED))
)
SELECT now, node, since, says FROM clock, me
UNION ALL
SELECT now, node, since, says FROM clock, retry_member WHERE namespace = $1 AND node <> $2 AND alive_until > now
ORDER BY node;

-- $1 namespace, $2 now
-- name: members
SELECT node, since, says FROM retry_member WHERE namespace = $1 AND alive_until > $2 ORDER BY node;

-- $1 namespace, $2 node
-- name: leave
DELETE FROM retry_member WHERE namespace = $1 AND node = $2 RETURNING 1;
