#pragma once
// How a kind of server carries news of due tasks between processes: Store::announce and Store::listen.

#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>

#include "storage/store.h"

namespace easyretry::storage::sql {

class News {
 public:
  virtual ~News() = default;
  virtual void announce(const std::string& space) = 0;
  virtual std::unique_ptr<Listening> listen(const std::string& space, std::function<void()> wake) = 0;
};

// The namespaces of which a transaction that is not ours has stored tasks that no ordinary scan reads in time.
std::set<std::string> due_soon(std::span<const NewTask> tasks, const InsertReply& reply);

}  // namespace easyretry::storage::sql
