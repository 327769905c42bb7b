#pragma once

#include <string>

namespace easyretry::sim {

// Which of the guards of task/transitions.cpp the transition table linked into this program lacks, found out by asking
// it: proof that a broken build is broken, and that the others are not. Empty: none.
std::string missing_guards();

}  // namespace easyretry::sim
