#pragma once
// The statements of sql/*.sql and migrations/*.sql, in the order of those files. Their indexes and measured costs are
// explained there. Every one finds its rows by the primary key, or by the index that it is forced to use; the hot ones
// sort nothing (tests/unit/mysql/plans_test.cpp).

#include <optional>
#include <span>
#include <string>

#include "storage/sql/session.h"
#include "storage/statement.h"

namespace easyretry::storage::mysql {

inline constexpr const char* kKeyTable = "retry_task_key";

namespace statements {

// sql/insert.sql
extern const Statement insert_tasks;
extern const Statement insert_history;
extern const Statement take_keys;
extern const Statement stored_keys;
extern const Statement live_keys;
extern const Statement key_holders;

// sql/claim.sql
extern const Statement lock_claimable;
extern const Statement claim;
extern const Statement lock_held;
extern const Statement extend_leases;
extern const Statement renew_with_progress;
extern const Statement write_something;

// sql/settle.sql
extern const Statement finish_into;
extern const Statement remove_rows;
extern const Statement retry;
extern const Statement advance;
extern const Statement hand_back;
extern const Statement update_rules;
extern const Statement update_task;
extern const Statement mark_requeued;

// sql/load.sql
extern const Statement due;
extern const Statement due_after;
extern const Statement glance;
extern const Statement glance_among_due;

// sql/find.sql
extern const Statement live_records;
extern const Statement finished_records;
extern const Statement lock_ids;
extern const Statement live_page;
extern const Statement finished_page;
extern const Statement count_tasks;

// sql/counts.sql
extern const Statement insert_sums;
extern const Statement has_sums;
extern const Statement lock_sums;
extern const Statement lock_days;
extern const Statement remove_day;
extern const Statement add_totals;
extern const Statement counts;

// sql/members.sql
extern const Statement beat;
extern const Statement read_members;
extern const Statement remove_dead;
extern const Statement leave;
extern const Statement members;

// sql/pauses.sql
extern const Statement pause;
extern const Statement count_paused;
extern const Statement resume;
extern const Statement paused;

// sql/inbox.sql
extern const Statement lock_inbox;
extern const Statement refuse_call;
extern const Statement clear_inbox;

// sql/tables.sql
extern const Statement create_tasks;
extern const Statement create_keys;
extern const Statement create_history;
extern const Statement check_tasks;
extern const Statement check_keys;
extern const Statement check_history;
extern const Statement table_names;
extern const Statement table_facts;
extern const Statement note_keeper_step;
extern const Statement forget_keeper_steps;

// sql/meta.sql
extern const Statement meta;
extern const Statement agree_on_meta;
extern const Statement hold_layout;
extern const Statement lock_layout;
extern const Statement change_meta;

// sql/reshard.sql
extern const Statement lock_lowest;
extern const Statement copy_tasks;
extern const Statement shard_page;
extern const Statement renumber;

// migrations/001_tables.sql
extern const Statement create_meta;
extern const Statement create_keeper_log;
extern const Statement create_count;
extern const Statement create_count_delta;
extern const Statement create_members;
extern const Statement create_pauses;
extern const Statement create_inbox;

// migrations/002_requeued_as.sql
extern const Statement lacks_requeued_as;
extern const Statement add_requeued_as;

}  // namespace statements

// --- Composed at run time ---

// For each shard, what is claimable now or when its time comes, ordered by (next_at, id): shard, id, version, next_at,
// handler, suspicion.
std::string due_statement(const std::string& table, const sql::DueQuery& query);
// The same, and among the rows one with kNoShard: time, whether the inbox has calls, 0, total_shards.
std::string load_statement(const std::string& table, const LoadQuery& query, std::optional<TimePoint> now);
inline constexpr int kNoShard = -1;  // as in sql/load.sql
// Names of handlers as retry_inbox has them. There is always one, so that the list is never empty.
std::string handler_list(std::span<const std::string> handlers);

std::string page_statement(const sql::Search& search);
std::string count_statement(const sql::Search& search);

}  // namespace easyretry::storage::mysql
