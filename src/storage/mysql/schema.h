#pragma once

#include <string>

#include "storage/sql/session.h"

namespace easyretry::storage::mysql {

// Each does nothing where its table is.
std::string create_tasks(const std::string& table, sql::KeysIn keys);
std::string create_keys();
std::string create_history(const std::string& table);
std::string lacks_marks(const std::string& table);  // a row where the table is there without them
std::string add_marks(const std::string& table);
std::string create_meta();
std::string create_keeper_log();

// Fail where the table, which may be there from before, lacks a column or an index.
std::string check_tasks(const std::string& table);
std::string check_keys();
std::string check_history(const std::string& table);

}  // namespace easyretry::storage::mysql
