#include "manual/manual_command.h"

#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands/command_tree.h"

namespace easyretry::app {
namespace {

// A backslash, a hyphen and a leading dot or quote would mean something else.
std::string roff(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '\\')
      made += "\\e";
    else if (c == '-')
      made += "\\-";
    else
      made += c;
  }
  return made.starts_with('.') || made.starts_with('\'') ? "\\&" + made : made;
}

std::string heading(const CommandOption& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + ("\\fB" + roff(name)) + "\\fR";
  if (option.names.empty()) return "\\fI" + roff(option.argument) + "\\fR";
  return names + (option.takes_value ? " \\fIVALUE\\fR" : "");
}

std::string section(const Command& command) {
  std::string text = fmt::format(".SS {}\n{}\n", roff(command.path), roff(command.description));
  for (const CommandOption& option : command.options) {
    if (!option.names.empty() && option.names.back() == "--help") continue;
    text +=
        fmt::format(".TP\n{}\n{}{}\n", heading(option), roff(option.description), option.required ? " (required)" : "");
  }
  return text;
}

std::string manual(const Command& root) {
  std::string commands;
  for (const Command* command : all_of(root)) {
    if (command != &root) commands += section(*command);
  }
  return fmt::format(R"(.\" Made by `{0} manual`.
.TH {1} 1 "" "{0} {2}" "User commands"
.SH NAME
{0} \- remembers calls that failed and tries them again
.SH SYNOPSIS
.B {0}
.I COMMAND
.RI [ OPTION ]...
.SH DESCRIPTION
{3}
.SH COMMANDS
Each tells more with \fB\-\-help\fR.
{4}.SH ENVIRONMENT
.TP
.B EASYRETRY_TOKEN
The token that is shown to a daemon.
.TP
.BR EASYRETRY_STORE ", " EASYRETRY_WORKERS " and the like"
Each key of the configuration, in capitals.
.TP
.B NO_COLOR
No colours on a terminal, either.
.SH FILES
.TP
.I easyretry.yaml
The configuration, where no other is named.
.TP
.I easyretry.tokens
The hashes of the tokens that a daemon lets in.
.SH EXIT STATUS
0 if all of it was done, 1 if not; others say that the command itself was not understood.
)",
                     root.name, "EASYRETRY", EASYRETRY_VERSION, roff(root.description), commands);
}

}  // namespace

void add_manual_command(CLI::App& app) {
  auto* command = app.add_subcommand("manual", "Prints this program's manual page: easyretry manual | man -l -");
  command->callback([&app] { fmt::print("{}", manual(command_tree(app))); });
}

}  // namespace easyretry::app
