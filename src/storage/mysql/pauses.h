#pragma once
// Handlers that are paused: retry_pause. See sql::Session.

#include <optional>
#include <string>
#include <string_view>

#include "storage/mysql/connection.h"
#include "storage/checks.h"
#include "storage/store.h"

namespace easyretry::storage::mysql {

std::string create_pauses();

Pausing pause(Connection& connection, std::string_view space, const PausedHandler& handler);
bool resume(Connection& connection, std::string_view space, std::string_view handler);
PausedReply paused(Connection& connection, std::string_view space, std::optional<TimePoint> now);

}  // namespace easyretry::storage::mysql
