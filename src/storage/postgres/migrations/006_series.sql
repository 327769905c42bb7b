-- Schema version 6: counts over time as a daemon saves them, in parts that are overwritten after a day.

-- name: create_series
CREATE TABLE IF NOT EXISTS retry_series (
  namespace text COLLATE "C" NOT NULL,
  part bigint NOT NULL,
  series_json text NOT NULL,
  PRIMARY KEY (namespace, part)
);
COMMENT ON TABLE retry_series IS 'EasyRetry: counts over time, of the last day';
