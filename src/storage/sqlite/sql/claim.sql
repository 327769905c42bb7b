-- Claims and renewals find their row by the primary key and change no index. The rules are those of
-- task/transitions.cpp. An unknown stage is read as a run, so it counts as an attempt; without that, no limit would ever
-- end such a task. A task whose instance died gets a line for the lost attempt. with_attempt() is a function of ours
-- (task/attempt_log.h, connection.cpp).

-- live_records then reads the rows that were won. UPDATE ... RETURNING would build a table for its one row (measured:
-- 12 µs per claim; 6 µs for the two statements).
-- ?1 id, ?2 version, ?3 now, ?4 owner, ?5 lease until, ?6 locked at, or NULL if the run does not begin yet
-- name: claim
UPDATE retry_state SET
  status = 'RUNNING',
  version = version + 1,
  attempt_count = attempt_count + (status = 'PENDING' AND stage NOT IN ('ON_SUCCESS', 'ON_FINAL_FAILURE')),
  callback_count = callback_count + (status = 'PENDING' AND stage IN ('ON_SUCCESS', 'ON_FINAL_FAILURE')),
  crash_count = crash_count + (status <> 'PENDING' AND locked_at IS NOT NULL),
  delivery_count = delivery_count + 1,
  attempt_log = CASE WHEN status = 'PENDING' OR stage IN ('ON_SUCCESS', 'ON_FINAL_FAILURE') THEN attempt_log
    ELSE with_attempt(attempt_log, attempt_count || char(9, 9) || lease_until || char(9)
      || CASE WHEN locked_at IS NULL THEN 'lost' ELSE 'crashed' END || char(9)
      || substr(coalesce(locked_by, ''), 1, 128)) END,
  locked_by = ?4,
  locked_at = ?6,
  lease_until = ?5,
  updated_at = ?3
WHERE id = ?1 AND version = ?2 AND next_retry_time <= ?3
  AND (status = 'PENDING' OR (status = 'RUNNING' AND lease_until <= ?3));

-- Runs after a failed sync has lost claims, because the same tasks would be claimed again with the same versions. It is
-- the only statement that changes all tasks.
-- ?1 how many versions
-- name: retire_versions
UPDATE retry_state SET version = version + ?1;

-- ?1 id, ?2 version, ?3 now, ?4 lease until, ?5 progress, or NULL to leave it
-- name: renew
UPDATE retry_state SET lease_until = ?4, updated_at = ?3, progress = coalesce(?5, progress)
WHERE id = ?1 AND version = ?2 AND status = 'RUNNING';
