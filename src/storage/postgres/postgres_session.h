#pragma once

#include <memory>
#include <string>

#include <libpq-fe.h>

#include "storage/sql/session.h"

namespace easyretry::storage::postgres {

// `settings` as libpq takes them: host=… port=… user=…. Throws sql::ServerError.
std::unique_ptr<sql::Session> connect(const std::string& settings);

// On somebody else's connection, which stays theirs.
std::unique_ptr<sql::Session> join(PGconn* theirs);

}  // namespace easyretry::storage::postgres
