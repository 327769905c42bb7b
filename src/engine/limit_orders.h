#pragma once
// Limits that operators have set at run time, as they are stored: in the list of paused handlers, like the orders to
// circuits (circuit_orders.h), under names that no handler can have.
//
// They are kept beside the configured limits. If a limit is set in both, the smaller one counts.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <easyretry/stats.h>

#include "base/result.h"
#include "engine/circuit_orders.h"

namespace easyretry::engine {

using LimitOrders = std::map<std::string, LimitOrder>;  // by subject: "handler pay", "circuit gateway"

// Refuses an invalid subject, a limit that is invalid or limits nothing, and a reason that is too long.
std::optional<Error> refuse_limit(std::string_view subject, const LimitOptions& limit, std::string_view why);
std::optional<Error> refuse_subject(std::string_view subject);

// The subject is valid.
StoredOrder to_stored(std::string_view subject, const LimitOrder& order);

// Removes the orders from the list, and returns them.
LimitOrders take_limit_orders(storage::PausedReply& reply);

// Takes the smaller value of each limit.
LimitOptions stricter(const LimitOptions& configured, const LimitOptions& ordered);

}  // namespace easyretry::engine
