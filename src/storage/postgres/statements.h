#pragma once
// The statements of PostgreSQL's session. A batch comes as arrays, one a column; where it names rows, in ascending
// order of their ids, each once. Its rows are found by the index of the ids, one after the other: every instance locks
// rows in the same order.
//
// No index holds status, version, lease_until or locked_by, so that a claim and a renewal are heap-only updates.

#include <string>
#include <string_view>

#include "storage/postgres/connection.h"
#include "storage/postgres/new_keys.h"
#include "storage/sql/session.h"

namespace easyretry::storage::postgres::statements {

// Every statement finds its rows by an index, in the order of its batch; a plan by statistics of a moment in which the
// table was empty would stay.
//
// The server gives up before Connection::kPatience does, so that nothing goes on there that nobody waits for here. What
// a stopped or cut off instance has locked is free again after 3 s: a claim of others waits for it, with all that it
// has to claim.
inline constexpr const char* kSettings =
    "SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_seqscan = off; SET enable_bitmapscan = off; SET "
    "jit = off; "
    "SET plan_cache_mode = force_generic_plan; SET client_min_messages = warning; "
    "SET statement_timeout = '9s'; SET lock_timeout = '5s'; SET idle_in_transaction_session_timeout = '3s'";

// Milliseconds since 1970. Rounded down: a task must not start half a millisecond early.
inline constexpr const char* kServerTime = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
// As base::later, of expressions.
std::string later(std::string_view now, std::string_view delay);

std::string create_tasks(const std::string& table, sql::KeysIn keys);
std::string create_keys();
std::string create_history(const std::string& table);
std::string lacks_marks();  // $1 table
std::string add_marks(const std::string& table);
std::string create_meta();
std::string create_inbox();

// `list` is RowColumns::insert_list(); left out is what is in `history` (empty: not looked at).
std::string insert(const std::string& table, const std::string& list, const std::string& history,
                   Duplicates duplicates);
std::string live_keys(const std::string& table);     // $1 namespaces $2 keys
std::string take_keys(Duplicates duplicates);        // $1 ids $2 namespaces $3 keys
std::string key_holders();                           // $1 namespaces $2 keys
std::string update_rules(const std::string& table);  // $1 ids $2 attempts $3 durations $4 deadlines $5 backoffs

std::string claim(const std::string& table);  // $1 ids $2 versions $3 owner $4 now $5 lease until
// Settling: $1 ids $2 versions $3 now $4 errors, NULL where nothing failed
std::string finish(const std::string& table, const std::string& history, Duplicates duplicates);  // $5 outcomes
std::string forget(const std::string& table);                                                     // $1 ids $2 versions
std::string reschedule(
    const std::string& table);                // $5 due, $6 1 for hand back, $7 stages $8 outcomes $9 results or NULL
std::string renew(const std::string& table);  // $1 ids $2 versions $3 now $4 until $5 progress or NULL

std::string hold(const std::string& table);           // $1 ids
std::string lock(const std::string& table);           // $1 ids
std::string lock_history(const std::string& table);   // $1 ids
std::string mark_requeued(const std::string& table);  // $1 ids $2 new ids
std::string update(const std::string& table);         // one array a column that may change, see session.cpp
std::string remove(const std::string& table);         // $1 ids
std::string move(const std::string& from, const std::string& to, bool some_shards);  // $1 limit $2 after $3 shards

// Of the rows after an id: how many, how many whose shard is another one, how many are leased, the last, one who
// leases.
std::string shard_page(const std::string& table, int total_shards);  // $1 after $2 limit $3 now
std::string renumber(const std::string& table, int total_shards);    // $1 after $2 until

std::string due(
    const std::string& table);  // $1 lanes $2 after times $3 after ids $4 namespace $5 until $6 now $7 limit
// Time, whether the inbox has something, total_shards, layout.
std::string glance();  // $1 namespace $2 handlers $3 now or NULL
// Both at once: the same columns as due, and among them, without a lane, a row of time, inbox, 0 and total_shards.
std::string load(const std::string& table);                // as due, but $5 ahead $6 now or NULL; $8 handlers
std::string find(const std::string& table, bool history);  // $1 ids

std::string inbox();         // $1 namespace $2 handlers $3 limit
std::string refuse_inbox();  // $1 id $2 why $3 now
std::string clear_inbox();   // $1 ids

// " WHERE …" with the conditions of a list or a count; their values are added to `params`.
std::string where(const sql::Search& search, Params& params);

}  // namespace easyretry::storage::postgres::statements
