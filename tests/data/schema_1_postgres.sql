-- A database of schema version 1, as the last release without versions made it: 20 live tasks of `pay`, 10 ended ones.
CREATE TABLE retry_count (
    day bigint NOT NULL,
    namespace text NOT NULL COLLATE pg_catalog."C",
    method_name text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    tasks bigint NOT NULL
);
COMMENT ON TABLE retry_count IS 'EasyRetry: tasks stored and ended, by day, UTC; 0: former days';
CREATE TABLE retry_count_delta (
    id bigint NOT NULL,
    day bigint NOT NULL,
    namespace text NOT NULL,
    method_name text NOT NULL,
    kind text NOT NULL,
    tasks bigint NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0', autovacuum_vacuum_threshold='5000', autovacuum_vacuum_cost_delay='0');
COMMENT ON TABLE retry_count_delta IS 'EasyRetry: to be added to retry_count';
CREATE TABLE retry_inbox (
    id bigint NOT NULL,
    namespace text DEFAULT 'default'::text NOT NULL,
    method_name text NOT NULL,
    params_json text DEFAULT '[]'::text NOT NULL,
    task_key text,
    business_type text,
    business_id text,
    traceparent text,
    delay_ms bigint DEFAULT 0 NOT NULL,
    due_at bigint,
    created_at bigint DEFAULT (floor((EXTRACT(epoch FROM clock_timestamp()) * (1000)::numeric)))::bigint NOT NULL,
    error text,
    refused_at bigint
);
COMMENT ON TABLE retry_inbox IS 'EasyRetry: calls asked for by plain SQL, until they become tasks. Yours to insert into';
ALTER TABLE retry_inbox ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME retry_inbox_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE retry_keeper_log (
    id bigint NOT NULL,
    at bigint NOT NULL,
    action text NOT NULL,
    table_name text NOT NULL,
    row_count bigint NOT NULL
);
ALTER TABLE retry_keeper_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME retry_keeper_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE retry_member (
    namespace text NOT NULL COLLATE pg_catalog."C",
    node text NOT NULL COLLATE pg_catalog."C",
    since bigint NOT NULL,
    alive_until bigint NOT NULL,
    says text NOT NULL
)
WITH (fillfactor='50');
COMMENT ON TABLE retry_member IS 'EasyRetry: instances, each alive until so long after it was last heard';
CREATE TABLE retry_meta (
    name text NOT NULL,
    value text NOT NULL
);
CREATE TABLE retry_pause (
    namespace text NOT NULL COLLATE pg_catalog."C",
    method_name text NOT NULL COLLATE pg_catalog."C",
    since bigint NOT NULL,
    why text NOT NULL
);
COMMENT ON TABLE retry_pause IS 'EasyRetry: handlers whose tasks nobody claims';
CREATE TABLE retry_task (
    id bigint NOT NULL,
    namespace text NOT NULL COLLATE pg_catalog."C",
    task_key text NOT NULL COLLATE pg_catalog."C",
    method_name text NOT NULL,
    version bigint NOT NULL,
    stage text NOT NULL,
    outcome text,
    next_retry_time bigint NOT NULL,
    attempt_count integer NOT NULL,
    callback_count integer NOT NULL,
    crash_count integer NOT NULL,
    delivery_count integer NOT NULL,
    generation integer NOT NULL,
    payload_version integer NOT NULL,
    max_attempts integer NOT NULL,
    created_at bigint NOT NULL,
    max_retry_duration bigint NOT NULL,
    deadline bigint,
    first_failed_at bigint,
    last_error_time bigint,
    backoff_strategy text,
    business_type text,
    business_id text COLLATE pg_catalog."C",
    tags text,
    traceparent text,
    progress text,
    last_error_msg text,
    params_json bytea,
    result_json bytea,
    scan_time bigint NOT NULL,
    status text NOT NULL,
    shard smallint NOT NULL,
    lane integer NOT NULL,
    lease_until bigint DEFAULT 0 NOT NULL,
    locked_by text,
    locked_at bigint,
    updated_at bigint NOT NULL
)
WITH (fillfactor='45', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
COMMENT ON TABLE retry_task IS 'EasyRetry: tasks to be done. Times are milliseconds since 1970, UTC';
CREATE TABLE retry_task_history_202611 (
    id bigint NOT NULL,
    namespace text NOT NULL COLLATE pg_catalog."C",
    task_key text NOT NULL COLLATE pg_catalog."C",
    method_name text NOT NULL,
    version bigint NOT NULL,
    stage text NOT NULL,
    outcome text,
    next_retry_time bigint NOT NULL,
    attempt_count integer NOT NULL,
    callback_count integer NOT NULL,
    crash_count integer NOT NULL,
    delivery_count integer NOT NULL,
    generation integer NOT NULL,
    payload_version integer NOT NULL,
    max_attempts integer NOT NULL,
    created_at bigint NOT NULL,
    max_retry_duration bigint NOT NULL,
    deadline bigint,
    first_failed_at bigint,
    last_error_time bigint,
    backoff_strategy text,
    business_type text,
    business_id text COLLATE pg_catalog."C",
    tags text,
    traceparent text,
    progress text,
    last_error_msg text,
    params_json bytea,
    result_json bytea,
    finished_at bigint NOT NULL
);
COMMENT ON TABLE retry_task_history_202611 IS 'EasyRetry: tasks that ended in this month, UTC';
CREATE TABLE retry_task_history_202612 (
    id bigint NOT NULL,
    namespace text NOT NULL COLLATE pg_catalog."C",
    task_key text NOT NULL COLLATE pg_catalog."C",
    method_name text NOT NULL,
    version bigint NOT NULL,
    stage text NOT NULL,
    outcome text,
    next_retry_time bigint NOT NULL,
    attempt_count integer NOT NULL,
    callback_count integer NOT NULL,
    crash_count integer NOT NULL,
    delivery_count integer NOT NULL,
    generation integer NOT NULL,
    payload_version integer NOT NULL,
    max_attempts integer NOT NULL,
    created_at bigint NOT NULL,
    max_retry_duration bigint NOT NULL,
    deadline bigint,
    first_failed_at bigint,
    last_error_time bigint,
    backoff_strategy text,
    business_type text,
    business_id text COLLATE pg_catalog."C",
    tags text,
    traceparent text,
    progress text,
    last_error_msg text,
    params_json bytea,
    result_json bytea,
    finished_at bigint NOT NULL
);
COMMENT ON TABLE retry_task_history_202612 IS 'EasyRetry: tasks that ended in this month, UTC';
INSERT INTO retry_count_delta VALUES (2055926904197994198, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (1686447578668010979, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (3749063508959173216, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (6122119689435005139, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (679454693075529230, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (4529912507613785469, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (2054162994342762213, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (4819278432016061178, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (1673115583231726246, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (1625206710886921539, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (8055392428965312355, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (269552124918519710, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (6629687627309686423, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (3254913869733360549, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (3808147248936509330, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (7003728817281791005, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (1694016622175273860, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (6249011415373255573, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (5660889336071145388, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (8237738310599987552, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (4044708451878863142, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (2967695107971242183, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (8659279509432482238, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (1825505550288108802, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (7088983500315962996, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (853658146135250508, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (6516644053169838917, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (1560820919229447200, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (6400622513999513742, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (2759668974929963260, 1794960000000, 'default', 'pay', 'STORED', 1);
INSERT INTO retry_count_delta VALUES (8462514998532833437, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (1554983635446291732, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (4478919808997445106, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (2753887143115718371, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (5219416488637398636, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (6801058917598643318, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (8575492232725880086, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (2496966591464570286, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (7615185468963315004, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_count_delta VALUES (8057239916804866170, 1794960000000, 'default', 'pay', 'CANCELLED', 1);
INSERT INTO retry_meta VALUES ('total_shards', '64');
INSERT INTO retry_meta VALUES ('layout', 'single');
INSERT INTO retry_meta VALUES ('identity', '50567964757145102018688532832629901731');
INSERT INTO retry_task VALUES (910692377218255270, 'default', 'pay:0', 'pay', 1, 'RUN', NULL, 1794962782575, 0, 0, 0, 0, 0, 1, 16, 1794962782575, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b305d', NULL, 1794962782575, 'PENDING', 2, -1245847550, 0, NULL, NULL, 1794962782575);
INSERT INTO retry_task VALUES (910692378090691262, 'default', 'pay:1', 'pay', 1, 'RUN', NULL, 1794962782783, 0, 0, 0, 0, 0, 1, 16, 1794962782783, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b315d', NULL, 1794962782783, 'PENDING', 22, -1245847530, 0, NULL, NULL, 1794962782783);
INSERT INTO retry_task VALUES (910692378807894875, 'default', 'pay:2', 'pay', 1, 'RUN', NULL, 1794962782954, 0, 0, 0, 0, 0, 1, 16, 1794962782954, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b325d', NULL, 1794962782954, 'PENDING', 0, -1245847552, 0, NULL, NULL, 1794962782954);
INSERT INTO retry_task VALUES (910692379613235579, 'default', 'pay:3', 'pay', 1, 'RUN', NULL, 1794962783146, 0, 0, 0, 0, 0, 1, 16, 1794962783146, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b335d', NULL, 1794962783146, 'PENDING', 34, -1245847518, 0, NULL, NULL, 1794962783146);
INSERT INTO retry_task VALUES (910692380368226993, 'default', 'pay:4', 'pay', 1, 'RUN', NULL, 1794962783326, 0, 0, 0, 0, 0, 1, 16, 1794962783326, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b345d', NULL, 1794962783326, 'PENDING', 50, -1245847502, 0, NULL, NULL, 1794962783326);
INSERT INTO retry_task VALUES (910692381181888047, 'default', 'pay:5', 'pay', 1, 'RUN', NULL, 1794962783520, 0, 0, 0, 0, 0, 1, 16, 1794962783520, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b355d', NULL, 1794962783520, 'PENDING', 17, -1245847535, 0, NULL, NULL, 1794962783520);
INSERT INTO retry_task VALUES (910692381991434931, 'default', 'pay:6', 'pay', 1, 'RUN', NULL, 1794962783713, 0, 0, 0, 0, 0, 1, 16, 1794962783713, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b365d', NULL, 1794962783713, 'PENDING', 62, -1245847490, 0, NULL, NULL, 1794962783713);
INSERT INTO retry_task VALUES (910692382851237299, 'default', 'pay:7', 'pay', 1, 'RUN', NULL, 1794962783918, 0, 0, 0, 0, 0, 1, 16, 1794962783918, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b375d', NULL, 1794962783918, 'PENDING', 33, -1245847519, 0, NULL, NULL, 1794962783918);
INSERT INTO retry_task VALUES (910692383673320095, 'default', 'pay:8', 'pay', 1, 'RUN', NULL, 1794962784114, 0, 0, 0, 0, 0, 1, 16, 1794962784114, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b385d', NULL, 1794962784114, 'PENDING', 32, -1245847520, 0, NULL, NULL, 1794962784114);
INSERT INTO retry_task VALUES (910692384667350394, 'default', 'pay:9', 'pay', 1, 'RUN', NULL, 1794962784351, 0, 0, 0, 0, 0, 1, 16, 1794962784351, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b395d', NULL, 1794962784351, 'PENDING', 13, -1245847539, 0, NULL, NULL, 1794962784351);
INSERT INTO retry_task VALUES (910692385527171259, 'default', 'pay:10', 'pay', 1, 'RUN', NULL, 1794962784556, 0, 0, 0, 0, 0, 1, 16, 1794962784556, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b31305d', NULL, 1794962784556, 'PENDING', 2, -1245847550, 0, NULL, NULL, 1794962784556);
INSERT INTO retry_task VALUES (910692386332487003, 'default', 'pay:11', 'pay', 1, 'RUN', NULL, 1794962784748, 0, 0, 0, 0, 0, 1, 16, 1794962784748, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b31315d', NULL, 1794962784748, 'PENDING', 11, -1245847541, 0, NULL, NULL, 1794962784748);
INSERT INTO retry_task VALUES (910692387230066141, 'default', 'pay:12', 'pay', 1, 'RUN', NULL, 1794962784962, 0, 0, 0, 0, 0, 1, 16, 1794962784962, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b31325d', NULL, 1794962784962, 'PENDING', 9, -1245847543, 0, NULL, NULL, 1794962784962);
INSERT INTO retry_task VALUES (910692388119277501, 'default', 'pay:13', 'pay', 1, 'RUN', NULL, 1794962785174, 0, 0, 0, 0, 0, 1, 16, 1794962785174, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b31335d', NULL, 1794962785174, 'PENDING', 27, -1245847525, 0, NULL, NULL, 1794962785174);
INSERT INTO retry_task VALUES (910692388962319513, 'default', 'pay:14', 'pay', 1, 'RUN', NULL, 1794962785375, 0, 0, 0, 0, 0, 1, 16, 1794962785375, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b31345d', NULL, 1794962785375, 'PENDING', 15, -1245847537, 0, NULL, NULL, 1794962785375);
INSERT INTO retry_task VALUES (910692389843153553, 'default', 'pay:15', 'pay', 1, 'RUN', NULL, 1794962785585, 0, 0, 0, 0, 0, 1, 16, 1794962785585, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b31355d', NULL, 1794962785585, 'PENDING', 44, -1245847508, 0, NULL, NULL, 1794962785585);
INSERT INTO retry_task VALUES (910692390686173872, 'default', 'pay:16', 'pay', 1, 'RUN', NULL, 1794962785786, 0, 0, 0, 0, 0, 1, 16, 1794962785786, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b31365d', NULL, 1794962785786, 'PENDING', 10, -1245847542, 0, NULL, NULL, 1794962785786);
INSERT INTO retry_task VALUES (910692391416005465, 'default', 'pay:17', 'pay', 1, 'RUN', NULL, 1794962785960, 0, 0, 0, 0, 0, 1, 16, 1794962785960, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b31375d', NULL, 1794962785960, 'PENDING', 32, -1245847520, 0, NULL, NULL, 1794962785960);
INSERT INTO retry_task VALUES (910692392280058359, 'default', 'pay:18', 'pay', 1, 'RUN', NULL, 1794962786166, 0, 0, 0, 0, 0, 1, 16, 1794962786166, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b31385d', NULL, 1794962786166, 'PENDING', 58, -1245847494, 0, NULL, NULL, 1794962786166);
INSERT INTO retry_task VALUES (910692393072782775, 'default', 'pay:19', 'pay', 1, 'RUN', NULL, 1794962786355, 0, 0, 0, 0, 0, 1, 16, 1794962786355, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b31395d', NULL, 1794962786355, 'PENDING', 59, -1245847493, 0, NULL, NULL, 1794962786355);
INSERT INTO retry_task_history_202611 VALUES (910692393836093177, 'default', 'pay:20', 'pay', 2, 'RUN', 'CANCELLED', 1794962786537, 0, 0, 0, 0, 0, 1, 16, 1794962786537, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b32305d', NULL, 1794962788401);
INSERT INTO retry_task_history_202611 VALUES (910692394612042210, 'default', 'pay:21', 'pay', 2, 'RUN', 'CANCELLED', 1794962786722, 0, 0, 0, 0, 0, 1, 16, 1794962786722, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b32315d', NULL, 1794962788403);
INSERT INTO retry_task_history_202611 VALUES (910692395362827024, 'default', 'pay:22', 'pay', 2, 'RUN', 'CANCELLED', 1794962786901, 0, 0, 0, 0, 0, 1, 16, 1794962786901, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b32325d', NULL, 1794962788407);
INSERT INTO retry_task_history_202611 VALUES (910692396147195452, 'default', 'pay:23', 'pay', 2, 'RUN', 'CANCELLED', 1794962787088, 0, 0, 0, 0, 0, 1, 16, 1794962787088, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b32335d', NULL, 1794962788410);
INSERT INTO retry_task_history_202611 VALUES (910692396692415882, 'default', 'pay:24', 'pay', 2, 'RUN', 'CANCELLED', 1794962787218, 0, 0, 0, 0, 0, 1, 16, 1794962787218, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b32345d', NULL, 1794962788422);
INSERT INTO retry_task_history_202611 VALUES (910692397585801296, 'default', 'pay:25', 'pay', 2, 'RUN', 'CANCELLED', 1794962787431, 0, 0, 0, 0, 0, 1, 16, 1794962787431, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b32355d', NULL, 1794962788425);
INSERT INTO retry_task_history_202611 VALUES (910692398537909868, 'default', 'pay:26', 'pay', 2, 'RUN', 'CANCELLED', 1794962787658, 0, 0, 0, 0, 0, 1, 16, 1794962787658, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b32365d', NULL, 1794962788432);
INSERT INTO retry_task_history_202611 VALUES (910692399360034643, 'default', 'pay:27', 'pay', 2, 'RUN', 'CANCELLED', 1794962787854, 0, 0, 0, 0, 0, 1, 16, 1794962787854, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b32375d', NULL, 1794962788440);
INSERT INTO retry_task_history_202611 VALUES (910692400182084796, 'default', 'pay:28', 'pay', 2, 'RUN', 'CANCELLED', 1794962788050, 0, 0, 0, 0, 0, 1, 16, 1794962788050, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b32385d', NULL, 1794962788443);
INSERT INTO retry_task_history_202611 VALUES (910692401109063120, 'default', 'pay:29', 'pay', 2, 'RUN', 'CANCELLED', 1794962788271, 0, 0, 0, 0, 0, 1, 16, 1794962788271, 0, NULL, NULL, NULL, 'exponential first=1s factor=2 cap=15m jitter=1s', NULL, NULL, NULL, NULL, NULL, NULL, '\x5b32395d', NULL, 1794962788445);
SELECT pg_catalog.setval('retry_inbox_id_seq', 1, false);
SELECT pg_catalog.setval('retry_keeper_log_id_seq', 1, false);
ALTER TABLE ONLY retry_count_delta
    ADD CONSTRAINT retry_count_delta_pkey PRIMARY KEY (id);
ALTER TABLE ONLY retry_count
    ADD CONSTRAINT retry_count_pkey PRIMARY KEY (day, namespace, method_name, kind);
ALTER TABLE ONLY retry_inbox
    ADD CONSTRAINT retry_inbox_pkey PRIMARY KEY (id);
ALTER TABLE ONLY retry_keeper_log
    ADD CONSTRAINT retry_keeper_log_pkey PRIMARY KEY (id);
ALTER TABLE ONLY retry_member
    ADD CONSTRAINT retry_member_pkey PRIMARY KEY (namespace, node);
ALTER TABLE ONLY retry_meta
    ADD CONSTRAINT retry_meta_pkey PRIMARY KEY (name);
ALTER TABLE ONLY retry_pause
    ADD CONSTRAINT retry_pause_pkey PRIMARY KEY (namespace, method_name);
ALTER TABLE ONLY retry_task_history_202611
    ADD CONSTRAINT retry_task_history_202611_pkey PRIMARY KEY (id);
ALTER TABLE ONLY retry_task_history_202612
    ADD CONSTRAINT retry_task_history_202612_pkey PRIMARY KEY (id);
ALTER TABLE ONLY retry_task
    ADD CONSTRAINT retry_task_pkey PRIMARY KEY (id);
CREATE INDEX retry_inbox_waiting ON retry_inbox USING btree (namespace, method_name) WHERE (refused_at IS NULL);
CREATE INDEX retry_task_business ON retry_task USING btree (business_id) WHERE (business_id IS NOT NULL);
CREATE INDEX retry_task_due ON retry_task USING btree (lane, scan_time, ((id + 0)));
CREATE INDEX retry_task_history_202611_business ON retry_task_history_202611 USING btree (business_id) WHERE (business_id IS NOT NULL);
CREATE INDEX retry_task_history_202611_finished ON retry_task_history_202611 USING btree (finished_at);
CREATE INDEX retry_task_history_202611_key ON retry_task_history_202611 USING hash (task_key);
CREATE INDEX retry_task_history_202612_business ON retry_task_history_202612 USING btree (business_id) WHERE (business_id IS NOT NULL);
CREATE INDEX retry_task_history_202612_finished ON retry_task_history_202612 USING btree (finished_at);
CREATE INDEX retry_task_history_202612_key ON retry_task_history_202612 USING hash (task_key);
CREATE UNIQUE INDEX retry_task_key ON retry_task USING btree (task_key, namespace);
