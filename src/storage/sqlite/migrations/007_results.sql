-- Results that are kept for a while. Not a column of the months: a result goes long before its task does, and would leave
-- holes in every page.
-- name: migration_007
CREATE TABLE retry_result (id INTEGER PRIMARY KEY, keep_until INTEGER NOT NULL, result_json BLOB NOT NULL);
CREATE INDEX retry_result_keep_until ON retry_result (keep_until);
