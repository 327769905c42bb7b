#pragma once

#include <string>

namespace easyretry::sim {

// Which guards the program lacks, found out by asking the transition table and the seats that are linked into it, and
// by reading SQLite's claim: proof that a broken build is broken, and that the others are not. Empty: none.
std::string missing_guards();

}  // namespace easyretry::sim
