#pragma once

#include <string_view>

#include <libpq-fe.h>

#include "storage/server/server_error.h"

namespace easyretry::storage::postgres {

// By SQLSTATE, as PostgreSQL's documentation has them in its appendix A.
server::Trouble trouble_of(std::string_view sqlstate);

server::ServerError server_error(PGconn* connection, const PGresult* result);
server::ServerError connect_error(PGconn* connection);

}  // namespace easyretry::storage::postgres
