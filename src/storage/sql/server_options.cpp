#include "storage/sql/server_options.h"

#include <limits>
#include <stdexcept>

#include "storage/server/server_address.h"
#include "task/task_id.h"

namespace easyretry::storage::sql {

void validate(const ServerOptions& options) {
  if (options.total_shards < 1 || options.total_shards > task::kMaxShards) {
    throw std::invalid_argument("total_shards must be 1 to 4096, not " + std::to_string(options.total_shards));
  }
  if (options.keep_months < 1) {
    throw std::invalid_argument("keep_months must be 1 or more, not " + std::to_string(options.keep_months) +
                                " (history=none keeps no history)");
  }
  static_cast<void>(TableRouter{options.layout, options.total_shards, options.window});
}

bool set_server_option(ServerOptions& options, const UrlOption& option) {
  if (option.name == "history") {
    options.history = option.history();
  } else if (option.name == "keep_months") {
    options.keep_months = option.number(1, std::numeric_limits<int>::max());
  } else if (option.name == "shards") {
    options.total_shards = option.shards();
  } else if (option.name == "layout") {
    options.layout = parse_layout(option.value);
  } else if (option.name == "table_days") {
    options.window = std::chrono::days{option.number(1, 3650)};
  } else if (option.name == "connections") {
    options.connections = static_cast<std::size_t>(option.number(1, 1000));
  } else {
    return server::is_of_address(option.name);  // read with the address
  }
  return true;
}

}  // namespace easyretry::storage::sql
