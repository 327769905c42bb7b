-- retry_lookup, by its primary key (part, hash, id); calls.h explains it.

-- All tasks whose key has this hash: the id, whether the task is gone from retry_state, whether it has this namespace
-- and key, its version and its due time.
-- ?1 hash, ?2 namespace, ?3 key
-- name: live_keys
SELECT l.id, t.id IS NULL, t.namespace = ?2 AND c.task_key = ?3, t.version, t.next_retry_time
FROM retry_lookup l
LEFT JOIN retry_state t ON t.id = l.id
LEFT JOIN retry_call c ON c.id = t.id
WHERE l.part = 0 AND l.hash = ?1;

-- OR REPLACE: a second entry, added manually, must not keep a key from being used.
-- ?1 hash, ?2 id
-- name: make_former
UPDATE OR REPLACE retry_lookup SET part = 1 WHERE part = 0 AND hash = ?1 AND id = ?2;

-- ?1 part, ?2 hash, ?3 id
-- name: add_to_lookup
INSERT OR IGNORE INTO retry_lookup (part, hash, id) VALUES (?1, ?2, ?3);

-- ?1 part, ?2 hash, ?3 id
-- name: remove_from_lookup
DELETE FROM retry_lookup WHERE part = ?1 AND hash = ?2 AND id = ?3;

-- The entry ?4 places after (?1 part, ?2 hash, ?3 id).
-- name: lookup_place
SELECT part, hash, id FROM retry_lookup WHERE (part, hash, id) > (?1, ?2, ?3)
ORDER BY part, hash, id LIMIT 1 OFFSET ?4 - 1;

-- Removes the entries after (?1, ?2, ?3) and up to (?4, ?5, ?6) whose task is not live. Housekeeping appends a NOT
-- EXISTS for each month of history that stays. ?7: only ids below this one. The others belong to younger tasks, and
-- probing for those would read all over the tables.
-- name: sweep_lookup
DELETE FROM retry_lookup
WHERE (part, hash, id) > (?1, ?2, ?3) AND (part, hash, id) <= (?4, ?5, ?6) AND id < ?7
  AND NOT EXISTS (SELECT 1 FROM retry_state t WHERE t.id = retry_lookup.id);
