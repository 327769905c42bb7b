#pragma once
// The columns of retry_inbox that become a task, and how they are read.

#include <string>

#include "base/later.h"
#include "storage/inbox.h"
#include "storage/record_columns.h"

namespace easyretry::storage::sql {

inline constexpr const char* kInboxColumns =
    "id, method_name, params_json, task_key, business_type, business_id, traceparent, delay_ms, due_at, created_at";

// A delay counts from the application's statement, not from the moment it is taken in.
template <class Row>
InboxRow read_inbox_row(const Row& row) {
  InboxRow read;
  read.id = row.integer(0);
  read.handler = row.text(1);
  read.payload = row.text(2);
  read.key = row.text(3);
  read.business_type = row.text(4);
  read.business_id = row.text(5);
  read.traceparent = row.text(6);
  const Millis delay{row.integer(7)};
  if (!row.is_null(8)) {
    read.due_at = from_ms(row.integer(8));
  } else if (delay > Millis{0}) {
    read.due_at = base::later(from_ms(row.integer(9)), delay);
  }
  return read;
}

}  // namespace easyretry::storage::sql
