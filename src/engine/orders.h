#pragma once
// Orders to circuits, and limits that operators have set at run time, as they are stored: in the list of paused
// handlers, under names that no handler can have.
//
// So they are durable on every store, and every instance that claims reads them with the pauses, every second, in the
// same statement. An order whose time is over stays in the list until the next one for its circuit, or a reset.
// Instances do not remove it, because they could remove a newer order by mistake.
//
// Limits are kept beside the configured ones. If a limit is set in both, the smaller one counts.

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <easyretry/stats.h>

#include "base/result.h"
#include "engine/circuit.h"
#include "engine/store_time.h"

namespace easyretry::storage {
struct PausedReply;
}

namespace easyretry::engine {

inline constexpr Millis kShortestOrder = std::chrono::seconds{1};
inline constexpr Millis kLongestIgnore = std::chrono::hours{24};
inline constexpr Millis kLongestOpen = std::chrono::hours{24 * 365};

using CircuitOrders = std::map<std::string, CircuitOrder>;  // by name of the circuit

// Refuses a name that no circuit can have, a time that is out of bounds, and a reason that is too long.
std::optional<Error> refuse_order(std::string_view circuit, CircuitState state, std::optional<Millis> time,
                                  std::string_view why);

struct StoredOrder {
  std::string key;   // for the name of a handler
  std::string text;  // for the reason of a pause
};
StoredOrder to_stored(std::string_view circuit, const CircuitOrder& order);

// For the circuit itself.
Circuit::Order by_steady_clock(const CircuitOrder& order, const StoreTime& time);

// Removes the orders from the list, and returns those that are in force.
CircuitOrders take_circuit_orders(storage::PausedReply& reply);

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
