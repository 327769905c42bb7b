#include "command_tree.h"

#include <CLI/CLI.hpp>

#include "command_line.h"

namespace easyretry::app {
namespace {

CommandOption option_of(const CLI::Option& option) {
  CommandOption made;
  for (const std::string& name : option.get_snames()) made.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) made.names.push_back("--" + name);
  if (made.names.empty()) made.argument = option.get_name(true);
  made.description = option.get_description();
  made.takes_value = option.get_items_expected_max() != 0;  // the type of a flag has a size as well
  made.values = known_values(option);
  made.required = option.get_required();
  return made;
}

Command build(const CLI::App& app, const std::string& above) {
  Command command{above + app.get_name(), app.get_name(), app.get_description()};
  for (const CLI::Option* option : app.get_options()) command.options.push_back(option_of(*option));
  for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    command.commands.push_back(build(*below, command.path + " "));
  }
  return command;
}

void collect(const Command& command, std::vector<const Command*>& all) {
  all.push_back(&command);
  for (const Command& below : command.commands) collect(below, all);
}

}  // namespace

Command command_tree(const CLI::App& app) {
  return build(app, "");
}

std::vector<const Command*> all_of(const Command& command) {
  std::vector<const Command*> all;
  collect(command, all);
  return all;
}

}  // namespace easyretry::app
