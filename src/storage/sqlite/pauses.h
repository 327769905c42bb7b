#pragma once
// retry_pause: the handlers that are paused.

#include <string_view>
#include <vector>

#include <easyretry/paused_handler.h>

#include "storage/checks.h"
#include "storage/sqlite/connection.h"

namespace easyretry::storage::sqlite {

// Inside a transaction.
Pausing pause(Connection& db, std::string_view space, const PausedHandler& handler);
bool resume(Connection& db, std::string_view space, std::string_view handler);

std::vector<PausedHandler> paused(Connection& db, std::string_view space);  // ascending name

}  // namespace easyretry::storage::sqlite
