#pragma once
// Whether the promises were kept, by what the processes wrote down and what the store says at the end.

#include <cstddef>
#include <ostream>

#include "fault/crew.h"
#include "storage/store.h"

namespace easyretry::fault {

struct Verdict {
  std::size_t kills = 0;
  std::size_t acked = 0;
  std::size_t doubted = 0;
  std::size_t ended = 0;
  std::size_t executions = 0;
  std::size_t cut_off = 0;    // executions whose process was killed in them
  std::size_t overtaken = 0;  // executions that went on when another process had begun the next
  std::size_t late = 0;       // begun after the next one: their process was stopped between the claim and the start
};
std::ostream& operator<<(std::ostream& out, const Verdict& verdict);

// Fails the test where something acknowledged is gone, a task ended twice or not as it should have, one ran before it
// was due, or two executions of it overlapped while the first one's lease held.
Verdict judge(storage::Store& store, Crew& crew);

// Nothing is left to be done.
bool all_done(storage::Store& store);

}  // namespace easyretry::fault
