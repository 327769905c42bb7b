#pragma once
// tests/support/servers.py for C++. Throws std::runtime_error with its output if it fails.

#include <filesystem>
#include <string>

namespace easyretry::test {

std::filesystem::path new_server_folder();

// Starts the server if needed; it runs until this process ends. Returns its main port.
int start_server(const std::string& kind, const std::filesystem::path& folder, const std::string& options = {});
void order_server(const std::string& command, const std::filesystem::path& folder);  // "kill", "stop", "remove"

std::filesystem::path shared_server_folder(const std::string& kind);
// The port of the server that all tests of this build folder use. ctest starts it for tests with the fixture; in a
// program that you start yourself, the first call does.
int shared_server(const std::string& kind, const std::string& options = {});

}  // namespace easyretry::test
