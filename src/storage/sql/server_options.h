#pragma once
// How a store on a database server is opened.

#include <functional>
#include <memory>
#include <string>

#include <easyretry/time.h>

#include "storage/history.h"
#include "storage/server/notifier.h"
#include "storage/sql/session.h"
#include "storage/table_router.h"
#include "storage/url.h"

namespace easyretry::storage::sql {

struct ServerOptions {
  std::string kind;  // "postgres": the first word of every error
  std::string url;   // without secrets
  Pool::Connect connect;
  History history = History::all;
  int keep_months = 3;
  int total_shards = 64;
  Layout layout = Layout::single();
  Millis window = TableRouter::kDefaultWindow;  // of a period layout
  std::size_t connections = 4;                  // for claims, settlements and inserts
  // How often an insert checks whether the number of shards has changed; every load does.
  Millis look_at_shards_every{1000};
  const Clock* clock = nullptr;  // for tests: replaces the server's

  // Turns a connection of the application into a session for one batch; empty: not supported
  Transaction::Kind joins{};
  std::function<std::unique_ptr<Session>(void* connection)> join{};

  std::shared_ptr<server::Notifier> notifier{};  // null: the server has no announcements
};

// Throws std::invalid_argument for values that are invalid on every server.
void validate(const ServerOptions& options);

// The options that the url of every database server may have. Returns false if it is another option.
bool set_server_option(ServerOptions& options, const UrlOption& option);

}  // namespace easyretry::storage::sql
