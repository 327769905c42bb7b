#pragma once
// Tasks as bytes: what lua/common.lua calls body and meta, and what settle.lua remembers of those that have ended.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "task/record.h"
#include "task/task_key.h"

namespace easyretry::storage::redis {

inline constexpr unsigned kPending = 1;
inline constexpr unsigned kRunning = 2;

// 0: none.
unsigned number_of(std::optional<Outcome> outcome);
std::optional<Outcome> outcome_of(unsigned number);

// The numbers of names, from the server. 0 for a backoff that is written out.
struct NameNumbers {
  unsigned space = 0;
  unsigned handler = 0;
  unsigned backoff = 0;
};

// Gives the text of a number.
using NameTexts = std::function<std::string(unsigned)>;

// The times are set afterwards. The record's state is not looked at.
std::string body_of(const task::TaskRecord& record, const NameNumbers& names, const task::KeyDigest& digest);
void set_times(std::string& body, TimePoint created, TimePoint next_at);
// With `rules` those of a live task are replaced by the record's.
std::string meta_of(const task::TaskRecord& record, const NameNumbers& names, const task::KeyDigest& digest,
                    bool with_rules);
void set_next_at(std::string& meta, TimePoint next_at);

// With the backoff written out.
std::string rules_bytes(const task::RetryRules& rules);

// What was edited by hand into nonsense is read as far as it goes.
task::TaskRecord live_record(TaskId id, std::string_view body, std::string_view meta, const NameTexts& texts);
task::TaskRecord ended_record(TaskId id, std::string_view done, const NameTexts& texts);

}  // namespace easyretry::storage::redis
