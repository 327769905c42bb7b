#pragma once

#include <string>

#include "commands/command_tree.h"

namespace easyretry::app {

// Scripts that complete commands and options. Where a value is due, files are offered.
std::string bash_completion(const Command& root);
std::string zsh_completion(const Command& root);
std::string fish_completion(const Command& root);

}  // namespace easyretry::app
