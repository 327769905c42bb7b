#pragma once
// How a client is doing, for people and for decisions about how much to trust its lists.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <easyretry/error.h>
#include <easyretry/time.h>

namespace easyretry::nacos {

enum class State { connecting, running, stopped };

std::string_view to_string(State state);

struct Status {
  State state = State::connecting;
  std::string server;                   // of the current connection, or of the last attempt
  std::string connection_id;            // as the server calls it; empty while connecting
  std::uint64_t connection = 0;         // how many there have been: 1 for the first
  std::optional<Instant> last_heard{};  // from any server
  std::optional<Error> last_trouble{};  // the newest; stays after it is over
  std::size_t unconfirmed = 0;          // wishes that the server has not confirmed yet
};

}  // namespace easyretry::nacos
