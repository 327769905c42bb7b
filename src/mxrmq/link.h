#pragma once
// A queue in a Redis server: connections, scripts, and what its keys are called. Throws ServerError, a LostReply where
// a write may have been done. Safe to use from any thread.

#include <string>
#include <string_view>
#include <vector>

#include <easyretry/error.h>

#include "mxrmq/detect.h"
#include "mxrmq/scripts.h"
#include "storage/redis/link.h"

namespace easyretry::mxrmq {

using storage::redis::Command;
using storage::redis::LostReply;
using storage::redis::Reply;
using storage::server::ServerError;

class Link {
 public:
  // Throws StoreError where it cannot be worked with.
  explicit Link(QueueOptions options);

  const Keys& keys() const { return keys_; }
  const QueueOptions& options() const { return options_; }

  // About one topic; "" for scripts that are about all.
  Reply run(const Script& script, std::string_view topic, const std::vector<std::string>& arguments);
  Reply run(const Command& command);

 private:
  Keys opened();

  const QueueOptions options_;
  storage::redis::Link way_;
  const Keys keys_;
};

enum class Does { read, write };  // where a reply is lost, nothing was done, or nobody knows

StoreError to_store_error(const ServerError& error, std::string_view where, Does does);

// body(), with what goes wrong on the way to the server as StoreError.
template <class Body>
auto or_store_error(std::string_view where, Does does, Body body) {
  try {
    return body();
  } catch (const ServerError& error) {
    throw to_store_error(error, where, does);
  }
}

}  // namespace easyretry::mxrmq
