-- Schema version 3: how far the history of handlers that are kept for a shorter time has been swept.

-- name: create_retention
CREATE TABLE IF NOT EXISTS retry_retention (
  namespace text COLLATE "C" NOT NULL,
  method_name text COLLATE "C" NOT NULL,
  tasks_until bigint NOT NULL,
  params_until bigint NOT NULL,
  PRIMARY KEY (namespace, method_name)
);
COMMENT ON TABLE retry_retention IS 'EasyRetry: ended before these times, tasks and arguments of a handler are removed';
