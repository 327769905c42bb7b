#pragma once
// The commands of a random sequence. A command names tasks by small numbers, taken modulo the number of tasks, so that
// a sequence still makes sense after shrinking has removed commands from it.

#include <cstdint>
#include <ostream>
#include <vector>

#include <rapidcheck.h>

#include "support/store_backend.h"

namespace easyretry::test {

struct Pick {
  std::uint8_t task = 0;
  std::uint8_t how = 0;
};

struct Command {
  enum class Verb { tick, insert, load, claim, settle, renew, find, list, revise, end, requeue, keep };
  Verb verb = Verb::tick;
  std::uint8_t how = 0;
  std::vector<Pick> picks;
};

std::ostream& operator<<(std::ostream& out, const Pick& pick);
std::ostream& operator<<(std::ostream& out, const Command& command);
std::ostream& operator<<(std::ostream& out, const StoreSettings& settings);

rc::Gen<std::vector<Command>> any_commands();
rc::Gen<StoreSettings> any_settings();

}  // namespace easyretry::test
