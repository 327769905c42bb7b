-- Counts over time: retry_series.

-- $1 namespace, $2 part, $3 text
-- name: save_series
INSERT INTO retry_series (namespace, part, series_json) VALUES ($1, $2, $3)
ON CONFLICT (namespace, part) DO UPDATE SET series_json = excluded.series_json;

-- $1 namespace
-- name: saved_series
SELECT part, series_json FROM retry_series WHERE namespace = $1 ORDER BY part;
