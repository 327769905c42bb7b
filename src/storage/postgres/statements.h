#pragma once
// The statements of sql/*.sql and migrations/*.sql, in the order of those files. Parameters, indexes and measured costs
// are explained there. {table} is a table of tasks, {history} a month of history.

#include "storage/statement.h"

namespace easyretry::storage::postgres::statements {

// sql/session.sql
extern const Statement settings;
extern const Statement now;
extern const Statement begin;  // {settings}
extern const Statement brief_lock_timeout;
extern const Statement least_lock_timeout;
extern const Statement async_commit;

// sql/insert.sql
extern const Statement insert;  // {table} {columns} {values} {arrays} {varying} {unless_ended} {on_conflict}
extern const Statement insert_unless_ended;  // {history}
extern const Statement live_keys;            // {table}
extern const Statement take_keys;            // {on_conflict}
extern const Statement key_holders;
extern const Statement update_rules;  // {table}

// sql/claim.sql
extern const Statement claim;  // {table}
extern const Statement renew;  // {table}

// sql/settle.sql
extern const Statement finish;             // {table} {history} {unless_there}
extern const Statement unless_in_history;  // {history}
extern const Statement forget;             // {table}
extern const Statement reschedule;         // {table}

// sql/operations.sql
extern const Statement hold;           // {table}
extern const Statement hold_free;      // {table}
extern const Statement lock_tasks;     // {table}
extern const Statement lock_history;   // {history}
extern const Statement mark_requeued;  // {history}
extern const Statement update_tasks;   // {table}
extern const Statement remove_tasks;   // {table}

// sql/load.sql
extern const Statement due;  // {table}
extern const Statement glance;
extern const Statement load;  // {table}

// sql/find.sql. Here {table} may be a month of history as well.
extern const Statement find_tasks;     // {table}
extern const Statement find_ended;     // {table}
extern const Statement page_of_tasks;  // {table} {conditions}
extern const Statement page_of_ended;  // {table} {conditions}
extern const Statement count_rows;     // {table} {conditions}

// sql/counts.sql
extern const Statement insert_sums;  // {values}
extern const Statement take_sums;
extern const Statement take_days;
extern const Statement add_totals;
extern const Statement read_counts;
extern const Statement has_sums;

// sql/members.sql
extern const Statement beat;
extern const Statement members;
extern const Statement leave;

// sql/pauses.sql
extern const Statement pause;
extern const Statement count_pauses;
extern const Statement resume;
extern const Statement paused;

// sql/inbox.sql
extern const Statement inbox;
extern const Statement refuse_inbox;
extern const Statement clear_inbox;

// sql/notify.sql
extern const Statement listen;
extern const Statement announce;
extern const Statement notify;  // {namespace}

// sql/meta.sql
extern const Statement read_meta;
extern const Statement add_meta;
extern const Statement hold_layout;  // {for_share}
extern const Statement begin_change;
extern const Statement change_meta;
extern const Statement log_step;
extern const Statement forget_steps;

// sql/tables.sql. Here {table} may be any table.
extern const Statement create_tasks;  // {table} {unique}
extern const Statement create_keys;
extern const Statement create_history;  // {table}
extern const Statement one_at_a_time;   // {statement}
extern const Statement drop_table;      // {table}
extern const Statement lock_table;      // {table}
extern const Statement any_row;         // {table}
extern const Statement tables;
extern const Statement table_facts;

// sql/move.sql
extern const Statement move;        // {from} {to} {condition}
extern const Statement shard_page;  // {table} {shard}
extern const Statement renumber;    // {table} {shard}

// migrations/001_tables.sql
extern const Statement create_meta;
extern const Statement create_counts;
extern const Statement create_members;
extern const Statement create_pauses;
extern const Statement create_inbox;

// migrations/002_requeued_as.sql
extern const Statement lacks_requeued_as;
extern const Statement add_requeued_as;  // {table}

}  // namespace easyretry::storage::postgres::statements
