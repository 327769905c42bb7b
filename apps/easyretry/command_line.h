#pragma once
// The words of a command line: options with known values, and what is wrong with a line that cannot be parsed.

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace easyretry::app {

// Help, the manual and completion show these values. Other values are possible.
CLI::Option* suggest(CLI::Option* option, const std::vector<std::string>& values);

// The same, but other values are refused, with a suggestion. `suffix` may follow each value.
CLI::Option* one_of(CLI::Option* option, const std::vector<std::string>& values, const std::string& suffix = "");

// The values that were given to one of these functions.
std::vector<std::string> known_values(const CLI::Option& option);

// Checks for CLI::Option::check: the problem with a value, and how to write it; empty if there is no problem.
std::string not_a_duration(const std::string& text);  // 30s
std::string not_a_moment(const std::string& text);    // a time, or how long ago: 2026-03-01, 2h
std::string not_a_whole_number(const std::string& text, std::int64_t least, std::int64_t most);

// True if a word of the line is neither a command, an option nor a value. CLI11 shows help before it complains.
bool has_unexpected_word(const CLI::App& app);

// Explains the problem with the command line, and what was probably meant: two lines, whatever it contains.
// `app` has just thrown `error`.
std::string explanation(const CLI::App& app, const CLI::ParseError& error);

}  // namespace easyretry::app
