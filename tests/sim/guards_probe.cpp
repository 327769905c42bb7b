#include "sim/guards_probe.h"

#include <string_view>
#include <vector>

#include "engine/seats.h"
#include "storage/sqlite/statements.h"
#include "task/transitions.h"

namespace easyretry::sim {
namespace {

using namespace std::chrono_literals;

constexpr TimePoint kNow{1h};

task::TaskRecord running_task() {
  task::TaskRecord record;
  record.info.state = TaskState::running;
  record.info.version = 5;
  record.lease_until = kNow + 1s;
  return record;
}

}  // namespace

std::string missing_guards() {
  const task::TaskRecord held = running_task();
  task::TaskRecord expired = held;
  expired.lease_until = kNow - 1s;
  const task::Ticket current{held.info.id, 5}, old{held.info.id, 4};

  std::vector<std::string> missing;
  if (task::claim_event(expired, old, kNow)) missing.emplace_back("cas_on_version");
  if (task::claim_event(held, current, kNow)) missing.emplace_back("lease_check");
  if (task::transition(TaskState::pending, task::Event::claim)->attempts == 0)
    missing.emplace_back("attempt_before_run");
  if (task::holds(held, old)) missing.emplace_back("fence_on_settle");
  if (task::claim_event(expired, current, kNow) == task::Event::claim_expired) missing.emplace_back("proof_of_crashes");

  engine::Seats seats;
  seats.announce(1, 1, [] { return 0; });
  seats.heard(1, {{.seats = 1, .wishes = 1}}, true);
  if (seats.ours() > 0) missing.emplace_back("seats_of_others");

  const auto claims = [](const char* condition) {
    return storage::sqlite::statements::claim.text.find(condition) != std::string_view::npos;
  };
  if (!claims("AND version = ?2")) missing.emplace_back("version_in_sqlite");
  if (!claims("AND lease_until <= ?3")) missing.emplace_back("lease_in_sqlite");

  std::string all;
  for (const std::string& guard : missing) all += (all.empty() ? "" : ", ") + guard;
  return all;
}

}  // namespace easyretry::sim
