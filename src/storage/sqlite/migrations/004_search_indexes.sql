-- Indexes for pages of a long history. An id says when its task was stored, and most tasks end soon after that. So a
-- range of times is a range of ids, and only the other tasks need an index over times. Times are compared in slices of
-- 600,000 ms (kSlice in search.h). id / 4194304 + 1577836800000 is the time of an id in milliseconds (task/task_id.h).

-- The calls whose id is neither of the slice in which they were stored nor of the next one: ids grow even if the clock
-- is set back.
-- name: migration_004
CREATE INDEX IF NOT EXISTS retry_call_out_of_order ON retry_call (created_at)
WHERE ((id / 4194304 + 1577836800000) / 600000 - created_at / 600000) NOT IN (0, 1);

-- _kinds: in it, rows of a kind are sorted by id.
-- _late: the tasks that ended neither in the slice of their id nor in the next one. Their rows lie far apart, so the
-- index has all columns that the usual conditions ask for.
-- name: month_indexes
CREATE INDEX IF NOT EXISTS retry_state_{month}_kinds ON retry_state_{month} (namespace, method_name, outcome);
CREATE INDEX IF NOT EXISTS retry_state_{month}_late ON retry_state_{month}
  (finished_at / 600000, id, namespace, method_name, outcome, finished_at)
WHERE (finished_at / 600000 - (id / 4194304 + 1577836800000) / 600000) NOT IN (0, 1);
