#pragma once

#include <memory>
#include <string>

#include "storage/sql/session.h"

struct pg_conn;  // libpq's PGconn

namespace easyretry::storage::postgres {

// `settings` as libpq takes them: host=… port=… user=…. Throws sql::ServerError.
std::unique_ptr<sql::Session> connect(const std::string& settings);

// On somebody else's connection, which stays theirs.
std::unique_ptr<sql::Session> join(pg_conn* theirs);

}  // namespace easyretry::storage::postgres
