#pragma once

#include <string>

#include "storage/sql/session.h"

namespace easyretry::storage::mysql {

// Each does nothing where its table is.
std::string create_tasks(const std::string& table, sql::KeysIn keys);
std::string create_keys();
std::string create_history(const std::string& table);
std::string create_meta();

}  // namespace easyretry::storage::mysql
