#pragma once

#include <memory>
#include <string>

#include "storage/postgres/new_keys.h"
#include "storage/sql/session.h"

struct pg_conn;  // libpq's PGconn

namespace easyretry::storage::postgres {

// `settings` as libpq takes them: host=… port=… user=…. Throws server::ServerError.
std::unique_ptr<sql::Session> connect(const std::string& settings, std::shared_ptr<NewKeys> new_keys);

// On somebody else's connection, which stays theirs.
std::unique_ptr<sql::Session> join(pg_conn* theirs);

}  // namespace easyretry::storage::postgres
