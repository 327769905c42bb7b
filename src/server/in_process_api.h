#pragma once
// The API without a network: for a program that has the store itself. Nothing is run here; what is changed is left to
// the engines that work on the store.

#include <memory>
#include <string>

#include <easyretry/config.h>

#include "server/api.h"
#include "server/table_split.h"

namespace easyretry::server {

class InProcessApi {
 public:
  // Serves the one namespace that is in the engine's options. `config` is the daemons': its policies are those of tasks
  // that are submitted, its keys seal and open arguments. Throws as opening a store does, and std::invalid_argument
  // where there is none yet: none is made.
  explicit InProcessApi(const Config& config);
  InProcessApi(const InProcessApi&) = delete;
  InProcessApi& operator=(const InProcessApi&) = delete;

  // Waits for the answer.
  http::Response ask(http::Request request);

 private:
  const std::shared_ptr<storage::Store> store_;
  const std::shared_ptr<Space> space_;
  TableSplit split_;
  Api api_;
};

}  // namespace easyretry::server
