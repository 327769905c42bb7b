#include "completion/shells.h"

#include <fmt/format.h>

namespace easyretry::app {
namespace {

// For single quotes, of which `escaped` stands for one inside.
std::string quoted(std::string_view text, std::string_view escaped) {
  std::string made = "'";
  for (const char c : text) c == '\'' ? made.append(escaped) : made.append(1, c);
  return made + "'";
}

std::string in_posix_quotes(std::string_view text) {
  return quoted(text, R"('\'')");
}

// 'easyretry tasks'|'easyretry tasks list': what a next word may make of the place.
std::string places_below(const Command& root, std::string_view between) {
  std::string places;
  for (const Command* command : all_of(root)) {
    if (command == &root) continue;
    places.append(places.empty() ? "" : between).append("'" + command->path + "'");
  }
  return places;
}

std::string words_of(const Command& command) {
  std::string words;
  for (const Command& below : command.commands) words += below.name + " ";
  for (const CommandOption& option : command.options) {
    for (const std::string& name : option.names) words += name + " ";
  }
  return words;
}

std::string options_with_values(const Command& command) {
  std::string words = " ";
  for (const CommandOption& option : command.options) {
    for (const std::string& name : option.names) words += option.takes_value ? name + " " : "";
  }
  return words;
}

// "name:description", as zsh's _describe takes it.
std::string described(std::string name, std::string_view description) {
  for (auto colon = name.find(':'); colon != std::string::npos; colon = name.find(':', colon + 2))
    name.insert(colon, "\\");
  return in_posix_quotes(fmt::format("{}:{}", name, description)) + " ";
}

}  // namespace

std::string bash_completion(const Command& root) {
  std::string cases;
  for (const Command* command : all_of(root)) {
    cases += fmt::format("    '{}') words='{}' values='{}' ;;\n", command->path, words_of(*command),
                         options_with_values(*command));
  }
  return fmt::format(R"(# Made by `{0} completion bash`; to be read by bash: source <({0} completion bash)
_{0}() {{
  local place={0} word words values
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$place $word" in {1}) place="$place $word" ;; esac
  done
  case "$place" in
{2}  esac
  COMPREPLY=()
  if [[ $values == *" ${{COMP_WORDS[COMP_CWORD-1]}} "* ]]; then return; fi
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -o default -F _{0} {0}
)",
                     root.name, places_below(root, "|"), cases);
}

std::string zsh_completion(const Command& root) {
  std::string cases;
  for (const Command* command : all_of(root)) {
    std::string commands;
    std::string options;
    for (const Command& below : command->commands) commands += described(below.name, below.description);
    for (const CommandOption& option : command->options) {
      for (const std::string& name : option.names) options += described(name, option.description);
    }
    cases += fmt::format("    '{}') commands=({}); options=({}); values='{}' ;;\n", command->path, commands, options,
                         options_with_values(*command));
  }
  return fmt::format(R"(#compdef {0}
# Made by `{0} completion zsh`; to be read by zsh: source <({0} completion zsh)
_{0}() {{
  local place={0} word values
  local -a commands options
  for word in ${{words[2,CURRENT-1]}}; do
    case "$place $word" in ({1}) place="$place $word" ;; esac
  done
  case "$place" in
{2}  esac
  if [[ $values == *" ${{words[CURRENT-1]}} "* ]]; then _files; return; fi
  _describe command commands
  _describe -o option options
}}
if [[ $funcstack[1] == _{0} ]]; then _{0} "$@"; else compdef _{0} {0}; fi
)",
                     root.name, places_below(root, "|"), cases);
}

std::string fish_completion(const Command& root) {
  const auto fish_quoted = [](std::string_view text) { return quoted(text, R"(\')"); };
  std::string script = fmt::format(R"(# Made by `{0} completion fish`; to be read by fish: {0} completion fish | source
function __{0}_at
  set -l place {0}
  for word in (commandline -opc)[2..-1]
    switch "$place $word"
      case {1}
        set place "$place $word"
    end
  end
  test "$place" = "$argv"
end
)",
                                   root.name, places_below(root, " "));
  for (const Command* command : all_of(root)) {
    const std::string here = fmt::format("complete -c {0} -n '__{0}_at {1}'", root.name, command->path);
    for (const Command& below : command->commands) {
      script += fmt::format("{} -f -a {} -d {}\n", here, below.name, fish_quoted(below.description));
    }
    for (const CommandOption& option : command->options) {
      if (option.names.empty()) continue;
      script += here;
      for (const std::string& name : option.names) {
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      script += fmt::format("{} -d {}\n", option.takes_value ? " -r" : "", fish_quoted(option.description));
    }
  }
  return script;
}

}  // namespace easyretry::app
