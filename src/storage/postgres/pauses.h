#pragma once
// Handlers that are paused: retry_pause. See sql::Session.

#include <optional>
#include <string>
#include <string_view>

#include "storage/checks.h"
#include "storage/postgres/connection.h"
#include "storage/store.h"

namespace easyretry::storage::postgres {

std::string create_pauses();

Pausing pause(Connection& db, std::string_view space, const PausedHandler& handler);
bool resume(Connection& db, std::string_view space, std::string_view handler);
PausedReply paused(Connection& db, std::string_view space, std::optional<TimePoint> now);

}  // namespace easyretry::storage::postgres
