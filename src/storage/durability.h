#pragma once

#include <string>

namespace easyretry::storage {

// What a power cut may take of a write that was acknowledged.
enum class Promise {
  kept,      // nothing: the commit waits for the disk, as the store is configured
  unneeded,  // the last moments. For writes that nobody acts on
};

struct Durability {
  std::string words;             // what an acknowledged write survives
  bool worth_a_warning = false;  // less than people expect of a server: a crash of its process may take tasks with it
};

}  // namespace easyretry::storage
