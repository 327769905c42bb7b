#pragma once
// The statements of PostgreSQL's session. A batch comes as arrays, one a column; where it names rows, in ascending
// order of their ids, each once. Its rows are found by the index of the ids, one after the other: every instance locks
// rows in the same order.
//
// No index holds status, version, lease_until or locked_by, so that a claim and a renewal are heap-only updates.

#include <string>

#include "storage/postgres/connection.h"
#include "storage/sql/session.h"

namespace easyretry::storage::postgres::statements {

std::string create_tasks(const std::string& table);
std::string create_history(const std::string& table);
std::string create_meta();
std::string create_inbox();

// `list` is RowColumns::insert_list(); left out is what is in `history` (empty: not looked at).
std::string insert(const std::string& table, const std::string& list, const std::string& history);
std::string live_keys(const std::string& table);     // $1 namespaces $2 keys
std::string update_rules(const std::string& table);  // $1 ids $2 attempts $3 durations $4 deadlines $5 backoffs

std::string claim(const std::string& table);  // $1 ids $2 versions $3 owner $4 now $5 lease until
// Settling: $1 ids $2 versions $3 now $4 errors, NULL where nothing failed
std::string finish(const std::string& table, const std::string& history);  // $5 outcomes
std::string forget(const std::string& table);                              // $1 ids $2 versions
std::string reschedule(
    const std::string& table);                // $5 due, $6 1 for hand back, $7 stages $8 outcomes $9 results or NULL
std::string renew(const std::string& table);  // $1 ids $2 versions $3 now $4 until $5 progress or NULL

std::string hold(const std::string& table);    // $1 ids
std::string lock(const std::string& table);    // $1 ids
std::string update(const std::string& table);  // one array a column that may change, see session.cpp
std::string remove(const std::string& table);  // $1 ids

std::string due(
    const std::string& table);  // $1 lanes $2 after times $3 after ids $4 namespace $5 until $6 now $7 limit
std::string find(const std::string& table, bool history);  // $1 ids

std::string inbox();         // $1 namespace $2 handlers $3 limit
std::string refuse_inbox();  // $1 id $2 why $3 now
std::string clear_inbox();   // $1 ids

// " WHERE …" with the conditions of a list or a count; their values are added to `params`.
std::string where(const sql::Search& search, Params& params);

}  // namespace easyretry::storage::postgres::statements
