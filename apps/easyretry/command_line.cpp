#include "command_line.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/duration_text.h"
#include "base/harmless.h"
#include "base/nearest.h"
#include "base/time_text.h"

namespace easyretry::app {
namespace {

constexpr char kBetweenValues = '|';

std::string without_dashes(const std::string& option) {
  return option.substr(std::min(option.find_first_not_of('-'), option.size()));
}

// "; did you mean list?"; empty if no known word is similar. All known words are in lower case.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known, const char* prefix = "") {
  const std::vector<std::string_view> views{known.begin(), known.end()};
  const auto meant = base::nearest(CLI::detail::to_lower(word), views);
  return meant ? fmt::format("; did you mean {}{}?", prefix, *meant) : "";
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back(name);
  }
  return names;
}

// The commands that the line names, from the program itself to the innermost one.
std::vector<const CLI::App*> chosen_commands(const CLI::App& app) {
  std::vector<const CLI::App*> chosen{&app};
  while (!chosen.back()->get_subcommands().empty()) chosen.push_back(chosen.back()->get_subcommands().front());
  return chosen;
}

std::string path_of(const std::vector<const CLI::App*>& commands) {
  std::string path;
  for (const CLI::App* command : commands) path += (path.empty() ? "" : " ") + command->get_name();
  return path;
}

std::string unknown_command(const CLI::App& app, const std::string& path, const std::string& word) {
  const std::vector<std::string> known = names_of_commands(app);
  const std::string meant = did_you_mean(word, known);
  if (!meant.empty()) return fmt::format("`{}` has no command \"{}\"{}", path, word, meant);
  return fmt::format("`{}` has no command \"{}\"; its commands are {}", path, word, fmt::join(known, ", "));
}

std::string unknown_option(const CLI::App& app, const std::string& path, const std::string& word,
                           const std::vector<const CLI::App*>& chosen) {
  const std::string option = word.substr(0, word.find('='));
  const std::vector<std::string> later = names_of_options(*chosen.back());
  if (&app != chosen.back() && std::find(later.begin(), later.end(), without_dashes(option)) != later.end()) {
    return fmt::format("{} is an option of `{}`: write it after the command", option, path_of(chosen));
  }
  return fmt::format("`{}` has no option {}{}", path, option,
                     did_you_mean(without_dashes(option), names_of_options(app), "--"));
}

// The first word that no command accepted; nullopt if there is none.
std::optional<std::string> unexpected_word(const std::vector<const CLI::App*>& chosen) {
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::vector<std::string> words = chosen[i]->remaining();
    if (words.empty()) continue;
    const std::string path = path_of({chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(i) + 1});
    const std::string& word = words.front();
    if (word.size() > 1 && word.starts_with('-')) return unknown_option(*chosen[i], path, word, chosen);
    const bool names_command = i + 1 == chosen.size() && !names_of_commands(*chosen[i]).empty();
    if (names_command) return unknown_command(*chosen[i], path, word);
    return fmt::format("`{}` does not expect \"{}\"", path, word);
  }
  return std::nullopt;
}

// CLI11's own text, if it is clear enough.
std::string reworded(const CLI::ParseError& error, const CLI::App& innermost, const std::string& path) {
  const std::string text = error.what();
  if (error.get_name() == "RequiredError" && text == "A subcommand is required") {
    return fmt::format("`{}` needs a command: {}", path, fmt::join(names_of_commands(innermost), ", "));
  }
  if (error.get_name() == "RequiredError") return fmt::format("`{}`: {}", path, text);
  if (error.get_name() == "ArgumentMismatch" && text.find(':') != std::string::npos) {
    const bool too_many = text.find("At Most") != std::string::npos;
    return text.substr(0, text.find(':')) + (too_many ? " was given more than once: give it once" : " needs a value");
  }
  if (error.get_name() == "ExcludesError") return text + ": give only one of them";
  return text;
}

std::string joined(const std::vector<std::string>& values, char between) {
  return fmt::format("{}", fmt::join(values, std::string(1, between)));
}

}  // namespace

CLI::Option* suggest(CLI::Option* option, const std::vector<std::string>& values) {
  return option->type_name(joined(values, kBetweenValues));
}

CLI::Option* one_of(CLI::Option* option, const std::vector<std::string>& values, const std::string& suffix) {
  return suggest(option, values)->check([values, suffix](const std::string& given) -> std::string {
    const bool has_suffix = !suffix.empty() && given.ends_with(suffix);
    const std::string word = has_suffix ? given.substr(0, given.size() - suffix.size()) : given;
    if (std::find(values.begin(), values.end(), word) != values.end()) return "";
    return fmt::format("unknown value \"{}\"; known: {}{}{}", given, fmt::join(values, ", "),
                       suffix.empty() ? "" : fmt::format(", and {} after each", suffix), did_you_mean(word, values));
  });
}

std::vector<std::string> known_values(const CLI::Option& option) {
  const std::string text = option.get_type_name();
  if (text.find(kBetweenValues) == std::string::npos) return {};
  return CLI::detail::split(text, kBetweenValues);
}

std::string not_a_duration(const std::string& text) {
  try {
    base::parse_duration(text);
    return "";
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
}

std::string not_a_moment(const std::string& text) {
  if (not_a_duration(text).empty()) return "";
  try {
    base::parse_time(text);
    return "";
  } catch (const std::invalid_argument&) {
    return fmt::format("\"{}\" is no time; write 2026-03-01, 2026-03-01T12:00:00Z, or 2h for two hours ago", text);
  }
}

std::string not_a_whole_number(const std::string& text, std::int64_t least, std::int64_t most) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number >= least && number <= most) return "";
  return fmt::format("\"{}\" is not a whole number from {} to {}", text, least, most);
}

bool has_unexpected_word(const CLI::App& app) {
  return unexpected_word(chosen_commands(app)).has_value();
}

std::string explanation(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<const CLI::App*> chosen = chosen_commands(app);
  const std::string path = path_of(chosen);
  const auto unexpected = unexpected_word(chosen);
  const std::string what = unexpected ? *unexpected : reworded(error, *chosen.back(), path);
  return fmt::format("{}\nsee `{} --help`", base::one_line(what), path);
}

}  // namespace easyretry::app
