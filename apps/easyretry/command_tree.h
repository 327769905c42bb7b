#pragma once
// All commands with their options, as CLI11 knows them. Completion and the manual are generated from it, so they are
// never out of date.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace easyretry::app {

struct CommandOption {
  std::vector<std::string> names{};  // "-h", "--help"; empty for a positional argument
  std::string argument{};            // "ID", for a positional argument
  std::string description{};
  bool takes_value = false;
  std::vector<std::string> values{};  // empty if they are not known
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

// The command itself and all its subcommands, in the order of the help.
std::vector<const Command*> all_of(const Command& command);

}  // namespace easyretry::app
