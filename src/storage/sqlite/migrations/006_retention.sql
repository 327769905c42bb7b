-- How far the history of handlers that are kept for a shorter time than the store's has been swept: what ended before
-- these times is removed.
-- name: migration_006
CREATE TABLE retry_retention (namespace TEXT NOT NULL, method_name TEXT NOT NULL, tasks_until INTEGER NOT NULL,
  params_until INTEGER NOT NULL, PRIMARY KEY (namespace, method_name)) WITHOUT ROWID;
