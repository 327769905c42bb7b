-- A database of schema version 1, as the last release without versions made it: 20 live tasks of `pay`, 10 ended ones.
CREATE TABLE `retry_count` (
  `day` bigint(20) NOT NULL COMMENT 'its beginning, ms since 1970 UTC; 0: former days',
  `namespace` varbinary(128) NOT NULL,
  `method_name` varbinary(512) NOT NULL COMMENT 'handler',
  `kind` varbinary(20) NOT NULL COMMENT 'STORED, or an outcome',
  `tasks` bigint(20) NOT NULL,
  PRIMARY KEY (`day`,`namespace`,`method_name`,`kind`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC COMMENT='tasks stored and ended';
CREATE TABLE `retry_count_delta` (
  `id` bigint(20) NOT NULL,
  `day` bigint(20) NOT NULL COMMENT 'its beginning, ms since 1970 UTC; 0: former days',
  `namespace` varbinary(128) NOT NULL,
  `method_name` varbinary(512) NOT NULL COMMENT 'handler',
  `kind` varbinary(20) NOT NULL COMMENT 'STORED, or an outcome',
  `tasks` bigint(20) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC COMMENT='to be added to retry_count';
INSERT INTO retry_count_delta VALUES (371846118920904712, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (401857537709456735, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (547160172326797288, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (566375533895138055, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (957910083510172245, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (1722655054145183301, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (1865769899644581733, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (2311209114315122664, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (2477959872750951033, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (2955831733695529105, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (3227704202183981708, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (3314235569667377538, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (3324186735345316772, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (3396183926142912098, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (4002850854639892607, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (4232697967496836180, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (4274595410413793656, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (4568396527784416080, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (4611966893007995063, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (4716424596748601416, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (5345393206484189525, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (5533631687127320679, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (5656868937907144848, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (5713168757631271329, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (6205841221835319053, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (6207207577345046971, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (6231667227036754917, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (6606856569262402421, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (6678823424163588972, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (6886943226294847285, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (7027456839565482390, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (7397636648746614463, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (8021080565823673223, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (8219393977098704366, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (8253464114004224797, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (8270761218494914524, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (8730521381858201742, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (8881519803471519002, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (9140803488332449102, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (9177390183882763699, 1794960000000, 'default', 'pay', 'STORED', 1);
CREATE TABLE `retry_inbox` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `namespace` varchar(64) NOT NULL DEFAULT 'default',
  `method_name` varchar(255) NOT NULL COMMENT 'handler',
  `params_json` longtext NOT NULL COMMENT 'JSON array of its arguments',
  `task_key` varchar(255) DEFAULT NULL,
  `business_type` varchar(255) DEFAULT NULL,
  `business_id` varchar(255) DEFAULT NULL,
  `traceparent` varchar(64) DEFAULT NULL,
  `delay_ms` bigint(20) NOT NULL DEFAULT 0 COMMENT 'not before created_at + delay_ms',
  `due_at` bigint(20) DEFAULT NULL COMMENT 'instead of delay_ms; ms since 1970 UTC, like all times',
  `created_at` bigint(20) NOT NULL DEFAULT (timestampdiff(MICROSECOND,'1970-01-01',utc_timestamp(3)) DIV 1000),
  `error` text DEFAULT NULL COMMENT 'why it cannot become a task',
  `refused_at` bigint(20) DEFAULT NULL COMMENT 'set it to NULL to try again',
  PRIMARY KEY (`id`),
  KEY `idx_waiting` (`namespace`,`refused_at`,`method_name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC COMMENT='calls asked for by plain SQL, until they become tasks; yours to insert into';
CREATE TABLE `retry_keeper_log` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `at` bigint(20) NOT NULL,
  `action` varbinary(32) NOT NULL,
  `table_name` varbinary(128) NOT NULL,
  `row_count` bigint(20) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC COMMENT='what was done to tables';
CREATE TABLE `retry_member` (
  `namespace` varbinary(128) NOT NULL,
  `node` varbinary(512) NOT NULL,
  `since` bigint(20) NOT NULL,
  `alive_until` bigint(20) NOT NULL COMMENT 'so long after it was last heard',
  `says` varbinary(4096) NOT NULL COMMENT 'of its shards',
  PRIMARY KEY (`namespace`,`node`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC COMMENT='instances';
CREATE TABLE `retry_meta` (
  `name` varbinary(128) NOT NULL,
  `value` varbinary(8192) NOT NULL,
  PRIMARY KEY (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC COMMENT='what all instances of one database agree on';
INSERT INTO retry_meta VALUES ('identity', '1348153975003202259610458249303221419617');
INSERT INTO retry_meta VALUES ('layout', 'single');
INSERT INTO retry_meta VALUES ('total_shards', '64');
CREATE TABLE `retry_pause` (
  `namespace` varbinary(128) NOT NULL,
  `method_name` varbinary(512) NOT NULL COMMENT 'handler',
  `since` bigint(20) NOT NULL,
  `why` varbinary(2048) NOT NULL,
  PRIMARY KEY (`namespace`,`method_name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC COMMENT='handlers whose tasks nobody claims';
CREATE TABLE `retry_task` (
  `id` bigint(20) NOT NULL COMMENT 'carries creation time and shard',
  `version` bigint(20) NOT NULL COMMENT 'fencing token: every change compares it',
  `next_retry_time` bigint(20) NOT NULL COMMENT 'due; ms since 1970 UTC, like all times',
  `attempt_count` int(11) NOT NULL DEFAULT 0 COMMENT 'executions that count',
  `callback_count` int(11) NOT NULL DEFAULT 0 COMMENT 'the same after stage RUN',
  `crash_count` int(11) NOT NULL DEFAULT 0 COMMENT 'executions whose worker died',
  `delivery_count` int(11) NOT NULL DEFAULT 0 COMMENT 'every time a worker was given the task',
  `stage` varchar(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'RUN' COMMENT 'what is left to do: RUN, ON_SUCCESS, ON_FINAL_FAILURE',
  `outcome` varchar(20) CHARACTER SET ascii COLLATE ascii_bin DEFAULT NULL COMMENT 'decided, but perhaps not yet told',
  `namespace` varbinary(128) NOT NULL COMMENT 'one application',
  `task_key` varbinary(512) NOT NULL COMMENT 'unique among what is to be done',
  `method_name` varbinary(512) NOT NULL COMMENT 'handler',
  `business_type` varbinary(255) DEFAULT NULL,
  `business_id` varbinary(512) DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  `first_failed_at` bigint(20) DEFAULT NULL,
  `last_error_time` bigint(20) DEFAULT NULL,
  `deadline` bigint(20) DEFAULT NULL COMMENT 'no attempt begins after it',
  `max_retry_duration` bigint(20) NOT NULL DEFAULT 0 COMMENT 'ms; 0: no limit',
  `max_attempts` int(11) NOT NULL COMMENT '0: no limit',
  `backoff_strategy` varbinary(2048) DEFAULT NULL COMMENT 'NULL: that of the handler',
  `generation` int(11) NOT NULL DEFAULT 0 COMMENT 'how often it was requeued',
  `payload_version` int(11) NOT NULL DEFAULT 1 COMMENT 'of params_json',
  `traceparent` varbinary(512) DEFAULT NULL,
  `tags` mediumtext DEFAULT NULL COMMENT 'JSON array',
  `progress` mediumblob DEFAULT NULL COMMENT 'what the last handler left',
  `last_error_msg` mediumtext DEFAULT NULL,
  `params_json` longblob NOT NULL COMMENT 'arguments; sealed if so configured',
  `result_json` longblob DEFAULT NULL COMMENT 'for a callback that is retried',
  `status` varchar(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL COMMENT 'PENDING or RUNNING',
  `lease_until` bigint(20) NOT NULL DEFAULT 0 COMMENT 'RUNNING belongs to locked_by until then',
  `locked_by` varbinary(512) DEFAULT NULL,
  `locked_at` bigint(20) DEFAULT NULL,
  `shard` smallint(6) NOT NULL,
  `updated_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `idx_task_key` (`task_key`,`namespace`),
  KEY `idx_next_retry` (`namespace`,`shard`,`next_retry_time`,`id`),
  KEY `idx_business` (`business_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC COMMENT='what is to be done, and nothing else';
INSERT INTO retry_task VALUES (910692425452751401, 1, 1794962794075, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:0', 'pay', NULL, NULL, 1794962794075, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[0]', NULL, 'PENDING', 0, NULL, NULL, 2, 1794962794075);
INSERT INTO retry_task VALUES (910692425687653311, 1, 1794962794131, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:1', 'pay', NULL, NULL, 1794962794131, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[1]', NULL, 'PENDING', 0, NULL, NULL, 22, 1794962794131);
INSERT INTO retry_task VALUES (910692425905733946, 1, 1794962794183, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:2', 'pay', NULL, NULL, 1794962794183, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[2]', NULL, 'PENDING', 0, NULL, NULL, 0, 1794962794183);
INSERT INTO retry_task VALUES (910692426111289475, 1, 1794962794232, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:3', 'pay', NULL, NULL, 1794962794232, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[3]', NULL, 'PENDING', 0, NULL, NULL, 34, 1794962794232);
INSERT INTO retry_task VALUES (910692426325215638, 1, 1794962794283, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:4', 'pay', NULL, NULL, 1794962794283, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[4]', NULL, 'PENDING', 0, NULL, NULL, 50, 1794962794283);
INSERT INTO retry_task VALUES (910692426593617850, 1, 1794962794347, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:5', 'pay', NULL, NULL, 1794962794347, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[5]', NULL, 'PENDING', 0, NULL, NULL, 17, 1794962794347);
INSERT INTO retry_task VALUES (910692426929208134, 1, 1794962794427, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:6', 'pay', NULL, NULL, 1794962794427, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[6]', NULL, 'PENDING', 0, NULL, NULL, 62, 1794962794427);
INSERT INTO retry_task VALUES (910692427180836297, 1, 1794962794487, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:7', 'pay', NULL, NULL, 1794962794487, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[7]', NULL, 'PENDING', 0, NULL, NULL, 33, 1794962794487);
INSERT INTO retry_task VALUES (910692427352802029, 1, 1794962794528, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:8', 'pay', NULL, NULL, 1794962794528, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[8]', NULL, 'PENDING', 0, NULL, NULL, 32, 1794962794528);
INSERT INTO retry_task VALUES (910692427533137492, 1, 1794962794571, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:9', 'pay', NULL, NULL, 1794962794571, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[9]', NULL, 'PENDING', 0, NULL, NULL, 13, 1794962794571);
INSERT INTO retry_task VALUES (910692427768007574, 1, 1794962794627, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:10', 'pay', NULL, NULL, 1794962794627, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[10]', NULL, 'PENDING', 0, NULL, NULL, 2, 1794962794627);
INSERT INTO retry_task VALUES (910692428019674738, 1, 1794962794687, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:11', 'pay', NULL, NULL, 1794962794687, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[11]', NULL, 'PENDING', 0, NULL, NULL, 11, 1794962794687);
INSERT INTO retry_task VALUES (910692428220999142, 1, 1794962794735, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:12', 'pay', NULL, NULL, 1794962794735, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[12]', NULL, 'PENDING', 0, NULL, NULL, 9, 1794962794735);
INSERT INTO retry_task VALUES (910692428418150125, 1, 1794962794782, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:13', 'pay', NULL, NULL, 1794962794782, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[13]', NULL, 'PENDING', 0, NULL, NULL, 27, 1794962794782);
INSERT INTO retry_task VALUES (910692428615269531, 1, 1794962794829, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:14', 'pay', NULL, NULL, 1794962794829, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[14]', NULL, 'PENDING', 0, NULL, NULL, 15, 1794962794829);
INSERT INTO retry_task VALUES (910692428808237671, 1, 1794962794875, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:15', 'pay', NULL, NULL, 1794962794875, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[15]', NULL, 'PENDING', 0, NULL, NULL, 44, 1794962794875);
INSERT INTO retry_task VALUES (910692428996946808, 1, 1794962794920, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:16', 'pay', NULL, NULL, 1794962794920, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[16]', NULL, 'PENDING', 0, NULL, NULL, 10, 1794962794920);
INSERT INTO retry_task VALUES (910692429164741089, 1, 1794962794960, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:17', 'pay', NULL, NULL, 1794962794960, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[17]', NULL, 'PENDING', 0, NULL, NULL, 32, 1794962794960);
INSERT INTO retry_task VALUES (910692429332539670, 1, 1794962795000, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:18', 'pay', NULL, NULL, 1794962795000, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[18]', NULL, 'PENDING', 0, NULL, NULL, 58, 1794962795000);
INSERT INTO retry_task VALUES (910692429525478882, 1, 1794962795046, 0, 0, 0, 0, 'RUN', NULL, 'default', 'pay:19', 'pay', NULL, NULL, 1794962795046, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[19]', NULL, 'PENDING', 0, NULL, NULL, 59, 1794962795046);
CREATE TABLE `retry_task_history_202611` (
  `id` bigint(20) NOT NULL COMMENT 'carries creation time and shard',
  `version` bigint(20) NOT NULL COMMENT 'fencing token: every change compares it',
  `next_retry_time` bigint(20) NOT NULL COMMENT 'due; ms since 1970 UTC, like all times',
  `attempt_count` int(11) NOT NULL DEFAULT 0 COMMENT 'executions that count',
  `callback_count` int(11) NOT NULL DEFAULT 0 COMMENT 'the same after stage RUN',
  `crash_count` int(11) NOT NULL DEFAULT 0 COMMENT 'executions whose worker died',
  `delivery_count` int(11) NOT NULL DEFAULT 0 COMMENT 'every time a worker was given the task',
  `stage` varchar(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'RUN' COMMENT 'what is left to do: RUN, ON_SUCCESS, ON_FINAL_FAILURE',
  `outcome` varchar(20) CHARACTER SET ascii COLLATE ascii_bin DEFAULT NULL COMMENT 'decided, but perhaps not yet told',
  `namespace` varbinary(128) NOT NULL COMMENT 'one application',
  `task_key` varbinary(512) NOT NULL COMMENT 'unique among what is to be done',
  `method_name` varbinary(512) NOT NULL COMMENT 'handler',
  `business_type` varbinary(255) DEFAULT NULL,
  `business_id` varbinary(512) DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  `first_failed_at` bigint(20) DEFAULT NULL,
  `last_error_time` bigint(20) DEFAULT NULL,
  `deadline` bigint(20) DEFAULT NULL COMMENT 'no attempt begins after it',
  `max_retry_duration` bigint(20) NOT NULL DEFAULT 0 COMMENT 'ms; 0: no limit',
  `max_attempts` int(11) NOT NULL COMMENT '0: no limit',
  `backoff_strategy` varbinary(2048) DEFAULT NULL COMMENT 'NULL: that of the handler',
  `generation` int(11) NOT NULL DEFAULT 0 COMMENT 'how often it was requeued',
  `payload_version` int(11) NOT NULL DEFAULT 1 COMMENT 'of params_json',
  `traceparent` varbinary(512) DEFAULT NULL,
  `tags` mediumtext DEFAULT NULL COMMENT 'JSON array',
  `progress` mediumblob DEFAULT NULL COMMENT 'what the last handler left',
  `last_error_msg` mediumtext DEFAULT NULL,
  `params_json` longblob NOT NULL COMMENT 'arguments; sealed if so configured',
  `result_json` longblob DEFAULT NULL COMMENT 'for a callback that is retried',
  `finished_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `idx_task_key` (`task_key`,`namespace`),
  KEY `idx_business` (`business_id`),
  KEY `idx_finished` (`finished_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC COMMENT='tasks that ended, by the month of their end';
INSERT INTO retry_task_history_202611 VALUES (910692429747724198, 2, 1794962795099, 0, 0, 0, 0, 'RUN', 'CANCELLED', 'default', 'pay:20', 'pay', NULL, NULL, 1794962795099, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[20]', NULL, 1794962795683);
INSERT INTO retry_task_history_202611 VALUES (910692429999384732, 2, 1794962795159, 0, 0, 0, 0, 'RUN', 'CANCELLED', 'default', 'pay:21', 'pay', NULL, NULL, 1794962795159, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[21]', NULL, 1794962795695);
INSERT INTO retry_task_history_202611 VALUES (910692430284602232, 2, 1794962795227, 0, 0, 0, 0, 'RUN', 'CANCELLED', 'default', 'pay:22', 'pay', NULL, NULL, 1794962795227, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[22]', NULL, 1794962795699);
INSERT INTO retry_task_history_202611 VALUES (910692430536294152, 2, 1794962795287, 0, 0, 0, 0, 'RUN', 'CANCELLED', 'default', 'pay:23', 'pay', NULL, NULL, 1794962795287, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[23]', NULL, 1794962795703);
INSERT INTO retry_task_history_202611 VALUES (910692430724998405, 2, 1794962795332, 0, 0, 0, 0, 'RUN', 'CANCELLED', 'default', 'pay:24', 'pay', NULL, NULL, 1794962795332, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[24]', NULL, 1794962795706);
INSERT INTO retry_task_history_202611 VALUES (910692430930518784, 2, 1794962795381, 0, 0, 0, 0, 'RUN', 'CANCELLED', 'default', 'pay:25', 'pay', NULL, NULL, 1794962795381, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[25]', NULL, 1794962795722);
INSERT INTO retry_task_history_202611 VALUES (910692431240897852, 2, 1794962795455, 0, 0, 0, 0, 'RUN', 'CANCELLED', 'default', 'pay:26', 'pay', NULL, NULL, 1794962795455, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[26]', NULL, 1794962795726);
INSERT INTO retry_task_history_202611 VALUES (910692431492597568, 2, 1794962795515, 0, 0, 0, 0, 'RUN', 'CANCELLED', 'default', 'pay:27', 'pay', NULL, NULL, 1794962795515, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[27]', NULL, 1794962795737);
INSERT INTO retry_task_history_202611 VALUES (910692431740028657, 2, 1794962795574, 0, 0, 0, 0, 'RUN', 'CANCELLED', 'default', 'pay:28', 'pay', NULL, NULL, 1794962795574, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[28]', NULL, 1794962795745);
INSERT INTO retry_task_history_202611 VALUES (910692431970751709, 2, 1794962795629, 0, 0, 0, 0, 'RUN', 'CANCELLED', 'default', 'pay:29', 'pay', NULL, NULL, 1794962795629, NULL, NULL, NULL, 0, 16, 'exponential first=1s factor=2 cap=15m jitter=1s', 0, 1, NULL, NULL, NULL, NULL, '[29]', NULL, 1794962795751);
CREATE TABLE `retry_task_history_202612` (
  `id` bigint(20) NOT NULL COMMENT 'carries creation time and shard',
  `version` bigint(20) NOT NULL COMMENT 'fencing token: every change compares it',
  `next_retry_time` bigint(20) NOT NULL COMMENT 'due; ms since 1970 UTC, like all times',
  `attempt_count` int(11) NOT NULL DEFAULT 0 COMMENT 'executions that count',
  `callback_count` int(11) NOT NULL DEFAULT 0 COMMENT 'the same after stage RUN',
  `crash_count` int(11) NOT NULL DEFAULT 0 COMMENT 'executions whose worker died',
  `delivery_count` int(11) NOT NULL DEFAULT 0 COMMENT 'every time a worker was given the task',
  `stage` varchar(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'RUN' COMMENT 'what is left to do: RUN, ON_SUCCESS, ON_FINAL_FAILURE',
  `outcome` varchar(20) CHARACTER SET ascii COLLATE ascii_bin DEFAULT NULL COMMENT 'decided, but perhaps not yet told',
  `namespace` varbinary(128) NOT NULL COMMENT 'one application',
  `task_key` varbinary(512) NOT NULL COMMENT 'unique among what is to be done',
  `method_name` varbinary(512) NOT NULL COMMENT 'handler',
  `business_type` varbinary(255) DEFAULT NULL,
  `business_id` varbinary(512) DEFAULT NULL,
  `created_at` bigint(20) NOT NULL,
  `first_failed_at` bigint(20) DEFAULT NULL,
  `last_error_time` bigint(20) DEFAULT NULL,
  `deadline` bigint(20) DEFAULT NULL COMMENT 'no attempt begins after it',
  `max_retry_duration` bigint(20) NOT NULL DEFAULT 0 COMMENT 'ms; 0: no limit',
  `max_attempts` int(11) NOT NULL COMMENT '0: no limit',
  `backoff_strategy` varbinary(2048) DEFAULT NULL COMMENT 'NULL: that of the handler',
  `generation` int(11) NOT NULL DEFAULT 0 COMMENT 'how often it was requeued',
  `payload_version` int(11) NOT NULL DEFAULT 1 COMMENT 'of params_json',
  `traceparent` varbinary(512) DEFAULT NULL,
  `tags` mediumtext DEFAULT NULL COMMENT 'JSON array',
  `progress` mediumblob DEFAULT NULL COMMENT 'what the last handler left',
  `last_error_msg` mediumtext DEFAULT NULL,
  `params_json` longblob NOT NULL COMMENT 'arguments; sealed if so configured',
  `result_json` longblob DEFAULT NULL COMMENT 'for a callback that is retried',
  `finished_at` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `idx_task_key` (`task_key`,`namespace`),
  KEY `idx_business` (`business_id`),
  KEY `idx_finished` (`finished_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin ROW_FORMAT=DYNAMIC COMMENT='tasks that ended, by the month of their end';
