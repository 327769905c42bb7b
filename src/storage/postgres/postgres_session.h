#pragma once

#include <memory>
#include <string>

#include "storage/sql/session.h"

namespace easyretry::storage::postgres {

// `settings` as libpq takes them: host=… port=… user=…. Throws sql::ServerError.
std::unique_ptr<sql::Session> connect(const std::string& settings);

}  // namespace easyretry::storage::postgres
