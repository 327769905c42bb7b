#include "storage/sql/url_options.h"

#include <limits>

namespace easyretry::storage {

bool set_server_option(sql::ServerOptions& options, const UrlOption& option) {
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
    return false;
  }
  return true;
}

}  // namespace easyretry::storage
