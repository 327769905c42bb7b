#include "storage/sql/news.h"

namespace easyretry::storage::sql {
namespace {

// The longest window there is (EngineOptions::window): what is due later is read by every instance's ordinary scans.
constexpr Millis kLongestWindow{std::chrono::minutes{10}};

}  // namespace

std::set<std::string> due_soon(std::span<const NewTask> tasks, const InsertReply& reply) {
  std::set<std::string> spaces;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Inserted& stored = reply.tasks[i];
    if (stored.created && stored.next_at <= reply.now + kLongestWindow) spaces.insert(tasks[i].space);
  }
  return spaces;
}

}  // namespace easyretry::storage::sql
