#pragma once
// The store of a world, at the far end of the way that FaultyStore makes dangerous.

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sim/journal.h"
#include "sim/scenario.h"
#include "storage/store.h"

namespace easyretry::sim {

class FarStore {
 public:
  virtual ~FarStore() = default;

  virtual storage::StoreInfo info() const = 0;
  // Not the same after user_ended().
  virtual storage::Store& tasks() = 0;
  // Where instances announce themselves, and their limits.
  virtual storage::Store& members() = 0;

  // insert() in two steps, as with a server. The second one replaces ids that the tasks did not get.
  virtual std::vector<TaskId> draw_ids(std::span<const task::NewTask> tasks) = 0;
  virtual storage::InsertResult insert_as(std::vector<TaskId>& ids, std::span<const task::NewTask> tasks) = 0;
  // Whether a request can be executed after its sender has given it up.
  virtual bool may_be_late(std::string_view verb) const = 0;

  // A process that uses it is gone. Not during a call.
  virtual void user_ended(Death how) = 0;
};

// The clock must outlive it. Its ids, too, come from `seed`.
std::unique_ptr<FarStore> make_far_store(StoreKind kind, const Scenario& scenario, std::uint64_t seed,
                                         const Clock& clock);

}  // namespace easyretry::sim
