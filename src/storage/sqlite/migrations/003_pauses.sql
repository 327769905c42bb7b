-- The handlers that are paused.
-- name: migration_003
CREATE TABLE retry_pause (namespace TEXT NOT NULL, method_name TEXT NOT NULL, since INTEGER NOT NULL,
  why TEXT NOT NULL, PRIMARY KEY (namespace, method_name)) WITHOUT ROWID;
