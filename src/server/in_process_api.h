#pragma once
// The API without a network, for a program that opens the store itself. It runs no tasks; changes take effect in the
// engines that use the store.

#include <memory>
#include <string>

#include <easyretry/config.h>

#include "server/api.h"
#include "server/table_split.h"

namespace easyretry::server {

class InProcessApi {
 public:
  // Serves the namespace `config.engine.name_space`. `config` is that of the daemons: its policies apply to submitted
  // tasks, its keys seal and open arguments. Throws like opening a store; std::invalid_argument if there is no store
  // yet, as none is created.
  explicit InProcessApi(const Config& config);
  InProcessApi(const InProcessApi&) = delete;
  InProcessApi& operator=(const InProcessApi&) = delete;

  // Waits for the response.
  http::Response ask(http::Request request);

 private:
  const std::shared_ptr<storage::Store> store_;
  const std::shared_ptr<Namespace> namespace_;
  TableSplit split_;
  Api api_;
};

}  // namespace easyretry::server
