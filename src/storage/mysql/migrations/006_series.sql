-- Version 6: counts over time as a daemon saves them, in parts that are overwritten after a day.

-- name: create_series
CREATE TABLE IF NOT EXISTS retry_series (
  namespace VARBINARY(128) NOT NULL,
  part BIGINT NOT NULL COMMENT 'its number, from 0 on',
  series_json LONGBLOB NOT NULL,
  PRIMARY KEY (namespace, part))
ENGINE=InnoDB ROW_FORMAT=DYNAMIC DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
COMMENT='counts over time, of the last day';
