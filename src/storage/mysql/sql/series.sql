-- retry_series: counts over time.

-- name: save_series
INSERT INTO retry_series (namespace, part, series_json) VALUES ({namespace}, {part}, {text})
ON DUPLICATE KEY UPDATE series_json = VALUES(series_json);

-- name: saved_series
SELECT part, series_json FROM retry_series WHERE namespace = {namespace} ORDER BY part;
