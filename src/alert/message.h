#pragma once
// What somebody is told. A task's arguments and result are no part of it.

#include <cstdint>
#include <string>
#include <vector>

#include <easyretry/time.h>

namespace easyretry::alert {

enum class Kind { final_failure, quarantine, backlog_age, failure_rate };

struct Sample {
  std::string task_id;
  std::string key;
  std::string error;
};

struct Message {
  Kind kind = Kind::final_failure;
  bool resolved = false;  // of backlog_age and failure_rate: it is fine again
  bool test = false;      // nothing has happened; somebody wants to see whether messages arrive
  std::string rule{};
  std::string space{};
  std::string handler{};
  std::uint64_t count = 0;     // tasks; of failure_rate, attempts that failed
  std::uint64_t attempts = 0;  // of failure_rate: out of so many
  Millis within{};             // the time in which these were counted
  Millis age{};                // of backlog_age
  Millis age_limit{};          //
  int rate_limit = 0;          // of failure_rate, in percent
  std::vector<Sample> samples{};
};

}  // namespace easyretry::alert
