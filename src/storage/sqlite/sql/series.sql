-- retry_series: counts over time.

-- ?1 namespace, ?2 part, ?3 text
-- name: save_series
INSERT OR REPLACE INTO retry_series (namespace, part, series_json) VALUES (?1, ?2, ?3);

-- ?1 namespace
-- name: saved_series
SELECT part, series_json FROM retry_series WHERE namespace = ?1 ORDER BY part;
