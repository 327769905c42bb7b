#pragma once
// Many ids for one statement: `SELECT … FROM id_list(?1) CROSS JOIN …`. The list is bound as it is, without a copy. One
// statement for hundreds of rows saves SQLite the start and the end of hundreds: measured, a third of the cost of
// reading claimed tasks.
//
// SQLite's own carray does the same, but it is an extension that has to be compiled in, and Debian's
// libsqlite3 (3.40) comes without it.

#include <span>

#include <easyretry/task.h>

#include "storage/sqlite/connection.h"

namespace easyretry::storage::sqlite {

using IdList = std::span<const TaskId>;

// Once per connection, before a statement that uses it is prepared.
void add_id_list(Connection& db);

// Both the list and the ids it points at must live until the statement has run.
void bind_ids(PreparedStatement& statement, int index, const IdList& ids);

}  // namespace easyretry::storage::sqlite
