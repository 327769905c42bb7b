#pragma once
// Each verb of a store is called until it has met every fault that it can meet.
//
// No list says which faults there are: a verb is called on a fresh task each time, and one more of its steps works,
// until a call meets no fault.

#include <cstddef>
#include <string>
#include <vector>

#include "cuts/verbs.h"

namespace easyretry::cuts {

// What a store needs and what may fail: a network, a disk.
class FaultyPlace {
 public:
  virtual ~FaultyPlace() = default;

  virtual storage::Store& store() = 0;  // its calls fail
  virtual storage::Store& plain() = 0;  // on the same database; called only while nothing fails

  virtual void prepared() {}  // the verb is called next
  // Once: after that many steps, the next one fails.
  virtual void fail_after(std::size_t steps) = 0;
  // False: there was nothing to take back, because a step has failed.
  virtual bool take_back() = 0;
  virtual void at_the_answer(const Verb& /*verb*/, const Answer& /*answer*/) {}  // before anything else is called
};

// Returns how many faults there were. `name` makes the keys of its tasks their own.
int meet_each_fault(FaultyPlace& place, Verbs& verbs, const std::vector<Verb>& all, const std::string& name);

}  // namespace easyretry::cuts
