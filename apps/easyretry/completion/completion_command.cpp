#include "completion/completion_command.h"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "completion/shells.h"

namespace easyretry::app {
namespace {

std::string script_for(const std::string& shell, const CLI::App& app) {
  const Command root = command_tree(app);
  if (shell == "bash") return bash_completion(root);
  return shell == "zsh" ? zsh_completion(root) : fish_completion(root);
}

}  // namespace

void add_completion_command(CLI::App& app) {
  auto* command = app.add_subcommand("completion", "Prints a shell completion script");
  auto shell = std::make_shared<std::string>();
  command->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([shell, &app] { fmt::print("{}", script_for(*shell, app)); });
}

}  // namespace easyretry::app
