#pragma once

#include <string>

#include "storage/sql/session.h"

namespace easyretry::storage::mysql {

std::string page(const sql::Search& search);
std::string count(const sql::Search& search);

}  // namespace easyretry::storage::mysql
