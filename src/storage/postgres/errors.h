#pragma once

#include <string_view>

#include <libpq-fe.h>

#include "storage/sql/server_error.h"

namespace easyretry::storage::postgres {

// By SQLSTATE, as PostgreSQL's documentation has them in its appendix A.
sql::Trouble trouble_of(std::string_view sqlstate);

sql::ServerError server_error(PGconn* connection, const PGresult* result);
sql::ServerError connect_error(PGconn* connection);

}  // namespace easyretry::storage::postgres
