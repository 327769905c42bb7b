-- retry_meta: the settings of the store, by name.

-- name: schema_version
SELECT CAST(value AS INTEGER) FROM retry_meta WHERE name = 'schema_version';

-- ?1 version
-- name: store_schema_version
INSERT OR REPLACE INTO retry_meta (name, value) VALUES ('schema_version', ?1);

-- name: total_shards
SELECT value FROM retry_meta WHERE name = 'total_shards';

-- The first opening of a file decides.
-- ?1 number of shards
-- name: store_total_shards
INSERT OR IGNORE INTO retry_meta (name, value) VALUES ('total_shards', ?1);

-- ?1 what it is, ?2 what it becomes
-- name: change_shards
UPDATE retry_meta SET value = ?2 WHERE name = 'total_shards' AND value = ?1;
