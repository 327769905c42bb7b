#pragma once

#include <string>

namespace easyretry::storage {

struct Durability {
  std::string words;             // what an acknowledged write survives
  bool worth_a_warning = false;  // less than people expect of a server: a crash of its process may take tasks with it
};

}  // namespace easyretry::storage
