-- retry_meta: settings that all instances share.

-- name: meta
SELECT value FROM retry_meta WHERE name = {name};

-- An existing value stays.
-- name: agree_on_meta
INSERT INTO retry_meta (name, value) VALUES ({name}, {value})
ON DUPLICATE KEY UPDATE name = name;

-- A read that locks sees the current value, also in an application's transaction with an older snapshot.
-- name: hold_layout
SELECT value FROM retry_meta WHERE name = 'layout' LOCK IN SHARE MODE;

-- Waits for every transaction that holds the layout.
-- name: lock_layout
SELECT value FROM retry_meta WHERE name = 'layout' FOR UPDATE;

-- name: change_meta
UPDATE retry_meta SET value = {to} WHERE name = {name} AND value = {from};
