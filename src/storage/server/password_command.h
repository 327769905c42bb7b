#pragma once
// A program that prints a password, such as one that asks a cloud for a token that is valid for some minutes.

#include <chrono>
#include <string>
#include <vector>

namespace easyretry::storage::server {

// Runs the program, command.front(), with the other words as its arguments, without a shell. Returns the first line
// that it prints to its standard output. Throws ServerError if it cannot be run, has not ended in time, which ends it
// and the processes that it has started, ends with another status than 0, or prints no line or too much. What it
// prints is in no message. For any thread.
std::string first_line_of(const std::vector<std::string>& command,
                          std::chrono::milliseconds patience = std::chrono::seconds{5});

}  // namespace easyretry::storage::server
