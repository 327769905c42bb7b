#pragma once
// A queue on a Redis server: connections, scripts and key names. Throws ServerError; a LostReply if a write may have
// been executed. Thread-safe.

#include <string>
#include <string_view>
#include <vector>

#include <easyretry/error.h>

#include "mxrmq/queue_url.h"
#include "mxrmq/scripts.h"
#include "storage/redis/link.h"

namespace easyretry::mxrmq {

using storage::redis::Command;
using storage::redis::LostReply;
using storage::redis::Reply;
using storage::server::ServerError;

class QueueConnection {
 public:
  // Throws StoreError if the server or the queue is unsuitable.
  explicit QueueConnection(QueueOptions options);

  const Keys& keys() const { return keys_; }
  const QueueOptions& options() const { return options_; }

  // For one topic; an empty topic is for scripts about all topics.
  Reply run(const Script& script, std::string_view topic, const std::vector<std::string>& arguments);
  Reply run(const Command& command);

 private:
  Keys opened();

  const QueueOptions options_;
  storage::redis::Link redis_;
  const Keys keys_;
};

enum class Access { read, write };  // if a reply is lost: a read did nothing, a write is in doubt

StoreError to_store_error(const ServerError& error, std::string_view where, Access access);

// Calls body() and turns a ServerError into a StoreError.
template <class Body>
auto or_store_error(std::string_view where, Access access, Body body) {
  try {
    return body();
  } catch (const ServerError& error) {
    throw to_store_error(error, where, access);
  }
}

}  // namespace easyretry::mxrmq
