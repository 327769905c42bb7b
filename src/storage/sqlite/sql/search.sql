-- Searches in a month of history go from one handler, or from one slice of time, to the next. The pages in between are
-- put together from the query, in search.cpp. The indexes are those of migrations/004_search_indexes.sql.

-- The next handler after ?2 in namespace ?1.
-- name: next_handler
SELECT method_name FROM {table} INDEXED BY {table}_kinds WHERE namespace = ?1 AND method_name > ?2
ORDER BY method_name LIMIT 1;

-- The first slice from ?1 on in which a task ended late.
-- name: next_late_slice
SELECT finished_at / 600000 FROM {table} INDEXED BY {table}_late
WHERE finished_at / 600000 >= ?1 AND (finished_at / 600000 - (id / 4194304 + 1577836800000) / 600000) NOT IN (0, 1)
ORDER BY finished_at / 600000 LIMIT 1;
