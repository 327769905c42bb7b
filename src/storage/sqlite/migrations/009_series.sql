-- Counts over time as a daemon saves them: see Store::save_series.
-- name: migration_009
CREATE TABLE retry_series (namespace TEXT NOT NULL, part INTEGER NOT NULL, series_json TEXT NOT NULL,
  PRIMARY KEY (namespace, part)) WITHOUT ROWID;
