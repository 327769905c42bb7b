#pragma once
// How a server tells other processes of due tasks: Store::announce and Store::listen.

#include <functional>
#include <memory>
#include <string>

#include "storage/store.h"

namespace easyretry::storage::sql {

class News {
 public:
  virtual ~News() = default;
  virtual void announce(const std::string& space) = 0;
  virtual std::unique_ptr<Listening> listen(const std::string& space, std::function<void()> wake) = 0;
};

}  // namespace easyretry::storage::sql
