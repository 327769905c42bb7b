#include "order.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "printing/text.h"

namespace easyretry::app {

void give_order(const ServiceOptions& options, bool as_json, const Order& order,
                const std::function<std::string(const nlohmann::json& answer)>& meaning) {
  const nlohmann::json answer = open_remote_service(daemon_of(options))->ask(order.request);
  if (as_json) return fmt::print("{}\n", json_text(answer));
  fmt::print("{} {}\n", printable(order.subject), meaning(answer));
  if (answer.value("known", false)) return;
  const std::string meant = answer.value("did_you_mean", "");
  fmt::print(stderr, "note: {}; {}\n", printable(order.unknown),
             meant.empty() ? "is the name right?" : fmt::format("did you mean {}?", printable(meant)));
}

}  // namespace easyretry::app
