#pragma once

#include <string>

namespace easyretry::storage::mysql {

// Each does nothing where its table is.
std::string create_tasks(const std::string& table);
std::string create_history(const std::string& table);
std::string create_meta();

}  // namespace easyretry::storage::mysql
