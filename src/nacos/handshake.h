#pragma once
// The first words on a new connection: is the server ready, who we are, and its confirmation.

#include <string>

#include <easyretry/error.h>

#include "nacos/connection.h"
#include "nacos/options.h"
#include "nacos/stream_state.h"

namespace easyretry::nacos {

// Which part of Nacos a connection is for. A connection without the right one is unknown to that part.
enum class Module { naming, config };

std::string_view to_string(Module module);

// Opens the stream. The listener must give a SetupAckRequest to state.confirm(), and the end to state.end(). Returns
// the id that the server gave the connection.
Result<std::string> shake_hands(Connection& connection, StreamState& state, StreamListener listener,
                                const ClientOptions& options, Module module);

}  // namespace easyretry::nacos
