-- Ended tasks whose handlers keep them for a shorter time than the store. They are found by search.cpp.

-- Removes the row of an ended task that need not be kept; the caller removes the rest of it.
-- ?1 id
-- name: expire_task
DELETE FROM {table} WHERE id = ?1 AND outcome NOT IN ('QUARANTINED', 'PARKED');

-- ?1 id
-- name: remove_requeued_mark
DELETE FROM retry_requeued WHERE id = ?1;

-- ?1 id
-- name: expire_arguments
UPDATE retry_call SET params_json = NULL
WHERE id = ?1 AND EXISTS (SELECT 1 FROM {table} h WHERE h.id = ?1 AND outcome NOT IN ('QUARANTINED', 'PARKED'));

-- name: retention_marks
SELECT namespace, method_name, tasks_until, params_until FROM retry_retention;

-- ?1 namespace, ?2 handler, ?3 tasks_until, ?4 params_until; 0 leaves one as it is
-- name: mark_retention
INSERT INTO retry_retention (namespace, method_name, tasks_until, params_until) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (namespace, method_name) DO UPDATE SET
  tasks_until = max(tasks_until, excluded.tasks_until), params_until = max(params_until, excluded.params_until);
