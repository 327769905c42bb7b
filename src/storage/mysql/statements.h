#pragma once
// The statements of the verbs. Every one finds its rows by the primary key or the index it is forced to; nothing sorts.
//
// Winners are found by a SELECT … FOR UPDATE, which in READ COMMITTED locks the rows that match and no gaps, in
// ascending order of their ids. What follows changes exactly those. Measured on MariaDB 10.11, 1,000 rows a statement,
// by the row: the SELECT 3 µs, an UPDATE of a list of ids 5 (13 with next_retry_time), of a JSON_TABLE 22, one by
// one 45.

#include <span>
#include <string>

#include "storage/sql/session.h"

namespace easyretry::storage::mysql {

inline constexpr const char* kKeyTable = "retry_task_key";

// --- Inserting ---
std::string insert_head(const std::string& table);
std::string insert_history_head(const std::string& history);
// A row that meets another stays out and changes nothing. (INSERT IGNORE would also store what does not fit, cut.)
std::string insert_tail();
std::string stored_keys(const std::string& table, std::span<const TaskId> ids);
std::string live_keys(const std::string& table, std::string_view space, std::span<const std::string> keys);
std::string take_keys_head();
std::string key_values(const TaskRecord& row);
std::string key_holders(std::string_view space, std::span<const std::string> keys);

// --- Winners ---
// SKIP LOCKED: a row that someone holds is being claimed or settled, and lost either way.
std::string claimable(const std::string& table, std::span<const Ticket> tickets, TimePoint now);
std::string held(const std::string& table, std::span<const Ticket> tickets);
std::string hold(const std::string& table, std::span<const TaskId> ids);
std::string locked(const std::string& table, std::span<const TaskId> ids);
std::string locked_history(const std::string& history, std::span<const TaskId> ids);
std::string lowest_locked(const sql::Move& move);

// --- Changes of rows that are locked ---
std::string claim(const std::string& table, std::span<const TaskId> ids, const ClaimRequest& request, TimePoint now);
std::string extend(const std::string& table, std::span<const TaskId> ids, TimePoint now, TimePoint lease_until);
std::string finish_into(const std::string& table, const std::string& history, std::span<const TaskId> ids,
                        Outcome outcome, std::string_view error, TimePoint now);
std::string remove(const std::string& table, std::span<const TaskId> ids);
std::string remove(const std::string& table, const std::string& ids);  // 1,2,3
std::string copy(const std::string& from, const std::string& to, std::span<const TaskId> ids);
std::string update(const std::string& table, const TaskRecord& record, TimePoint now);
std::string mark_requeued(const std::string& history, const sql::Requeued& requeued);
std::string renumber(const ShardPageQuery& query, TaskId last);

// --- Reading ---
std::string found(const std::string& table, bool history, std::span<const TaskId> ids);
// How many rows, how many whose shard is another one, how many are leased, the last id, one who leases.
std::string shard_page(const ShardPageQuery& query, TimePoint now);

}  // namespace easyretry::storage::mysql
