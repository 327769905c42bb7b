#pragma once
// How often a connection of a store has found its server read-only, so that another server is the primary now. Then all
// connections of the store are replaced, also those that only read: the rows of the old primary no longer change.
// Copies count together. Safe to use from any thread.

#include <atomic>
#include <memory>

namespace easyretry::storage::server {

class Demotions {
 public:
  void add() { ++*count_; }
  int count() const { return *count_; }

 private:
  std::shared_ptr<std::atomic<int>> count_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace easyretry::storage::server
