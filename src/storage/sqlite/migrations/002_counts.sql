-- Sums of tasks stored and ended. Tasks that are there already begin as stored on former days. The day comes first:
-- today's sums then lie together, and former days are found without a search.
-- name: migration_002
CREATE TABLE retry_count (day INTEGER NOT NULL, namespace TEXT NOT NULL, method_name TEXT NOT NULL,
  kind TEXT NOT NULL, tasks INTEGER NOT NULL, PRIMARY KEY (day, namespace, method_name, kind)) WITHOUT ROWID;
INSERT INTO retry_count SELECT 0, namespace, method_name, 'STORED', count(*) FROM retry_state
GROUP BY namespace, method_name;
