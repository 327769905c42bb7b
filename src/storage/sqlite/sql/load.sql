-- Due tasks. Both statements walk retry_state_due forward from a cursor: they sort nothing and read nothing that is due
-- later. There are two because SQLite 3.40 seeks (next_retry_time, id) > (?, ?) by the time alone, and then walks all
-- tasks that are due at that time.

-- ?1 namespace, ?2 due, ?3 after this id
-- name: load_same_time
SELECT id, version, next_retry_time, status, lease_until, shard, method_name, crash_count, locked_at, task_class,
  stage, attempt_count
FROM retry_state INDEXED BY retry_state_due
WHERE namespace = ?1 AND next_retry_time = ?2 AND id > ?3
ORDER BY id;

-- ?1 namespace, ?2 due after, ?3 due at the latest
-- name: load_later
SELECT id, version, next_retry_time, status, lease_until, shard, method_name, crash_count, locked_at, task_class,
  stage, attempt_count
FROM retry_state INDEXED BY retry_state_due
WHERE namespace = ?1 AND next_retry_time > ?2 AND next_retry_time <= ?3
ORDER BY next_retry_time, id;
