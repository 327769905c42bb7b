#pragma once
// The SQL of every verb, with the index it goes by. The rules are those of task/transitions.cpp.

#include <string>
#include <vector>

namespace easyretry::storage::sqlite::sql {

// ?1 id ?2 status ?3 namespace ?4 shard ?5 handler ?6 due ?7 now ?8 attempts ?9 failed at ?10 error ?11 owner
// ?12 locked at ?13 lease until.
// Adds to retry_state_due; changes nothing where the id is taken. Whether the key is free, bearers() says.
std::string insert();

// What was asked for, by the primary key.
// ?1 id ?2 key ?3 now ?4 business type ?5 business id ?6 max attempts ?7 deadline ?8 max duration ?9 backoff
// ?10 payload version ?11 payload ?12 tags ?13 traceparent
std::string insert_call();
std::string update_rules();  // ?1 id ?2 max attempts ?3 deadline ?4 max duration ?5 backoff
std::string copy_call();     // ?1 id ?2 id of the next generation ?3 now
std::string call_texts();    // ?1 id: key and business id
std::string remove_call();   // ?1 id

// The lookup, by its primary key.
// ?1 hash ?2 namespace ?3 key: all that have an entry among the keys; for each its id, whether it is gone from
// retry_state, whether it has this very namespace and key, and its version and due time.
std::string bearers();
std::string make_former();         // ?1 hash ?2 id
std::string add_to_lookup();       // ?1 part ?2 hash ?3 id
std::string remove_from_lookup();  // ?1 part ?2 hash ?3 id
// ?1 part ?2 hash ?3 id ?4 how many: the entry that many places further on.
std::string lookup_place();
// ?1 to ?3 after, ?4 to ?6 until which entry; ?7 only ids below this one: the others are of younger tasks, and to probe
// for them would read all over the tables. Removes what is neither live nor in one of the histories.
std::string sweep_lookup(const std::vector<std::string>& histories);

// Both walk retry_state_due forward from a cursor: no sort, and nothing that is due later is looked at. Two statements,
// because SQLite 3.40 seeks (next_retry_time, id) > (?, ?) by the time alone and then walks all that are due together.
std::string load_same_time();  // ?1 namespace ?2 due ?3 after id
std::string load_later();      // ?1 namespace ?2 due after ?3 until

// From here on by the primary key. No index changes unless the due time does.

// ?1 id ?2 version ?3 now ?4 owner ?5 lease until; live_records gives what was won. Not UPDATE … RETURNING, which
// builds a table for its one row (measured: 12 µs a claim against 6 for the two).
std::string claim();
std::string live_record();   // ?1 id
std::string live_records();  // ?1 list of ids; in its order, without those that are not there
std::string renew();         // ?1 id ?2 version ?3 now ?4 lease until ?5 progress, or NULL to leave it

// Settling: ?1 id ?2 version ?3 now ?4 error, or NULL where nothing failed
std::string hand_back();
std::string hand_back_later();                        // ?5 due at the earliest
std::string retry();                                  // ?5 due
std::string advance();                                // ?5 due ?6 stage ?7 outcome ?8 result
std::string forget();                                 // finish without history: ?1 id ?2 version
std::string finish_into(const std::string& history);  // ?5 outcome; then remove()
std::string remove();                                 // ?1 id
std::string names();                                  // ?1 id; namespace and handler

std::string revise();                                 // ?1 id ?2 version ?3 now ?4 due, or NULL to leave it
std::string cancel_and_tell();                        // ?1 id ?3 now ?5 outcome
std::string cancel_into(const std::string& history);  // ?1 id ?3 now ?5 outcome; then remove()

std::string finished_record(const std::string& history);   // ?1 id
std::string finished_records(const std::string& history);  // of the ids in id_list(?1)
// ?1 id: namespace, key, business id, handler; nothing where it was requeued
std::string finished_identity(const std::string& history);
// ?1 finished id ?2 new id ?3 now ?4 shard. Changes nothing where the new id is taken.
std::string requeue_from(const std::string& history);
std::string mark_requeued();  // ?1 finished id ?2 new id

std::string remove_calls_of(const std::string& history);
std::string remove_marks_of(const std::string& history);
// ?1 rows: the oldest go; none where there are fewer. Their calls and marks first.
std::string shorten_calls(const std::string& history);
std::string shorten_marks(const std::string& history);
std::string shorten(const std::string& history);

// Of the rows after an id: how many, how many whose shard is another one, the last. ?1 after ?2 limit
std::string shard_page(int total_shards);
std::string renumber(int total_shards);  // ?1 after ?2 until
std::string add_to_count();              // ?1 day ?2 namespace ?3 handler ?4 kind ?5 tasks
std::string take_days();                 // ?1 before; gives kCountColumns, as counts() does
std::string counts();                    // ?1 namespace

std::string history_tables();  // names, oldest month first

}  // namespace easyretry::storage::sqlite::sql
