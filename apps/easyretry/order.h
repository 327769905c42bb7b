#pragma once
// An order to all instances, as given by `circuits open` and `limits set`.

#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "service/service.h"

namespace easyretry::app {

struct Order {
  ApiRequest request;
  std::string subject;  // "gateway", "handler payment.pay"
  std::string unknown;  // the message if the daemon does not know the name: "this instance has no handler payment.pay"
};

// Sends it to a daemon, and prints in one line what the answer means, or the answer itself as JSON.
void give_order(const ServiceOptions& options, bool as_json, const Order& order,
                const std::function<std::string(const nlohmann::json& answer)>& meaning);

}  // namespace easyretry::app
