#pragma once
// Turns rows that plain SQL put into the store's inbox into tasks. Several instances may take from it at once, each row
// once. Looks when there may be rows: after a page of the Loader or news says so.

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/context.h"

namespace easyretry::engine {

class Intake {
 public:
  using Taken = std::function<void(std::span<const task::NewTask>, std::span<const storage::Inserted>)>;
  // `taken` is called with the new tasks.
  Intake(Context& context, const storage::StoreInfo& store, Taken taken);

  // Sets how a row becomes a task. Call it before the first step; without it, no row is taken.
  void convert_with(storage::Convert convert) { convert_ = std::move(convert); }
  // False: there is never anything to do.
  bool wanted() const { return has_inbox_ && convert_; }

  Step step();
  // There may be rows. From any thread.
  void look_soon();

  Wakeup wakeup;

 private:
  Context& context_;
  const bool has_inbox_;
  const Taken taken_;
  storage::Convert convert_;
  std::atomic<bool> told_{true};  // for the first look

  // Used only by the intake thread
  Instant earliest_ = Instant::min();
  int failures_ = 0;
};

}  // namespace easyretry::engine
