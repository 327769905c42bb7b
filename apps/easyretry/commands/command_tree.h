#pragma once
// All commands with their options, as CLI11 has them: what completion and the manual are made of, so that neither lags
// behind the program.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace easyretry::app {

struct CommandOption {
  std::vector<std::string> names{};  // "-h", "--help"; none for an argument
  std::string argument{};            // "ID", of one without names
  std::string description{};
  bool takes_value = false;
  bool required = false;
};

struct Command {
  std::string path;  // "easyretry tasks list"
  std::string name;  // "list"
  std::string description;
  std::vector<CommandOption> options{};
  std::vector<Command> commands{};
};

Command command_tree(const CLI::App& app);

// The command itself and all below it, in the order in which they are listed.
std::vector<const Command*> all_of(const Command& command);

}  // namespace easyretry::app
