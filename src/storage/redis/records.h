#pragma once
// Tasks as the bytes of record_layout.def: the body and the meta of a live task, and the record of an ended one.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "storage/redis/record_layout.h"
#include "task/record.h"
#include "task/task_key.h"

namespace easyretry::storage::redis {

// The last byte of an owner whose worker may not have begun with the task yet.
inline constexpr char kWaiting = static_cast<char>(layout::OwnerEnd::waiting);

// 0: no outcome.
unsigned number_of(std::optional<Outcome> outcome);
std::optional<Outcome> outcome_of(unsigned number);

// The numbers of a task's names, as the server assigned them. 0 for a backoff that is stored as text.
struct NameNumbers {
  unsigned name_space = 0;
  unsigned handler = 0;
  unsigned backoff = 0;
};

// Returns the name that has a number.
using NameTexts = std::function<std::string(unsigned)>;

// The times are set afterwards, by set_times(). The record's state is ignored.
std::string body_of(const task::TaskRecord& record, const NameNumbers& names, const task::KeyDigest& digest);
void set_times(std::string& body, TimePoint created, TimePoint next_at);
// `with_rules`: the meta includes the record's rules, which then replace the rules of the body.
std::string meta_of(const task::TaskRecord& record, const NameNumbers& names, const task::KeyDigest& digest,
                    bool with_rules);
void set_next_at(std::string& meta, TimePoint next_at);

// With the backoff as text.
std::string rules_bytes(const task::RetryRules& rules);

// A record that was corrupted or manually edited is read as far as possible.
task::TaskRecord live_record(TaskId id, std::string_view body, std::string_view meta, const NameTexts& texts);
task::TaskRecord ended_record(TaskId id, std::string_view done, const NameTexts& texts);

}  // namespace easyretry::storage::redis
