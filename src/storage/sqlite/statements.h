#pragma once
// The statements of sql/*.sql and migrations/*.sql, in the order of those files. Parameters, indexes and measured costs
// are explained there. {table} is a month of history, such as retry_state_202603; {month} is 202603.

#include "storage/statement.h"

namespace easyretry::storage::sqlite::statements {

// sql/insert.sql
extern const storage::Statement insert;
extern const storage::Statement insert_call;
extern const storage::Statement update_rules;
extern const storage::Statement copy_call;
extern const storage::Statement call_texts;
extern const storage::Statement remove_call;

// sql/lookup.sql
extern const storage::Statement live_keys;
extern const storage::Statement make_former;
extern const storage::Statement add_to_lookup;
extern const storage::Statement remove_from_lookup;
extern const storage::Statement lookup_place;
extern const storage::Statement sweep_lookup;

// sql/load.sql
extern const storage::Statement load_same_time;
extern const storage::Statement load_later;

// sql/claim.sql
extern const storage::Statement claim;
extern const storage::Statement retire_versions;
extern const storage::Statement renew;

// sql/settle.sql
extern const storage::Statement retry;
extern const storage::Statement advance;
extern const storage::Statement hand_back;
extern const storage::Statement hand_back_later;
extern const storage::Statement finish_into;  // {table}
extern const storage::Statement forget;
extern const storage::Statement remove;
extern const storage::Statement names;

// sql/operations.sql
extern const storage::Statement revise;
extern const storage::Statement cancel_and_tell;
extern const storage::Statement cancel_into;        // {table}
extern const storage::Statement finished_identity;  // {table}
extern const storage::Statement requeue_from;       // {table}
extern const storage::Statement mark_requeued;
extern const storage::Statement pause;
extern const storage::Statement resume;
extern const storage::Statement paused;
extern const storage::Statement count_paused;

// sql/find.sql
extern const storage::Statement highest_id;  // {table}
extern const storage::Statement live_record;
extern const storage::Statement live_records;
extern const storage::Statement finished_record;   // {table}
extern const storage::Statement finished_records;  // {table}

// sql/search.sql
extern const storage::Statement next_handler;     // {table}
extern const storage::Statement next_late_slice;  // {table}

// sql/history.sql
extern const storage::Statement history_tables;
extern const storage::Statement remove_calls_of;  // {table}
extern const storage::Statement remove_marks_of;  // {table}
extern const storage::Statement shorten_calls;    // {table}
extern const storage::Statement shorten_marks;    // {table}
extern const storage::Statement shorten;          // {table}
extern const storage::Statement drop_month;       // {month}

// sql/counts.sql
extern const storage::Statement add_to_count;
extern const storage::Statement take_days;
extern const storage::Statement counts;

// sql/reshard.sql
extern const storage::Statement shard_page;  // {shard}
extern const storage::Statement renumber;    // {shard}

// sql/meta.sql
extern const storage::Statement schema_version;
extern const storage::Statement store_schema_version;
extern const storage::Statement total_shards;
extern const storage::Statement store_total_shards;
extern const storage::Statement change_shards;

// migrations/001_tasks.sql
extern const storage::Statement migration_001;
extern const storage::Statement month_table;  // {month}

// migrations/002_counts.sql
extern const storage::Statement migration_002;

// migrations/003_pauses.sql
extern const storage::Statement migration_003;

// migrations/004_search_indexes.sql
extern const storage::Statement migration_004;
extern const storage::Statement month_indexes;  // {month}

// migrations/005_requeued.sql
extern const storage::Statement migration_005;
extern const storage::Statement drop_month_view;  // {month}
extern const storage::Statement month_view;       // {month}

}  // namespace easyretry::storage::sqlite::statements
