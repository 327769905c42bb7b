#include "support/servers_tool.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <unistd.h>

namespace easyretry::test {
namespace {

std::string quoted(const std::string& path) {
  return "'" + path + "'";
}

// Runs servers.py and returns its output.
std::string servers(const std::string& arguments) {
  const std::string command =
      quoted(EASYRETRY_PYTHON) + " " + quoted(EASYRETRY_SERVERS_TOOL) + " " + arguments + " 2>&1";
  std::FILE* output = popen(command.c_str(), "r");
  if (output == nullptr) throw std::runtime_error("cannot run " + command);
  std::string text;
  for (int c = 0; (c = std::fgetc(output)) != EOF;) text += static_cast<char>(c);
  if (pclose(output) != 0) throw std::runtime_error(command + ":\n" + text);
  return text;
}

std::string in(const std::filesystem::path& folder) {
  return " --folder " + quoted(folder.string());
}

std::string owned_by_us() {
  return " --owner " + std::to_string(getpid());
}

int port_in(const std::string& url) {
  return std::stoi(url.substr(url.rfind(':') + 1));
}

}  // namespace

// servers.py clean knows the name.
std::filesystem::path new_server_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "easyretry-server-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder like " + name);
  return name;
}

int start_server(const std::string& kind, const std::filesystem::path& folder, const std::string& options) {
  return port_in(servers("start " + kind + in(folder) + owned_by_us() + options));
}

void order_server(const std::string& command, const std::filesystem::path& folder) {
  servers(command + in(folder));
}

std::filesystem::path shared_server_folder(const std::string& kind) {
  const char* const others = std::getenv("TEST_SERVERS_FOLDER");  // of another version, for example (tests/engines)
  return std::filesystem::path{others == nullptr ? EASYRETRY_SHARED_SERVERS : others} / kind;
}

// Asking servers.py takes 0.1 s, too long for each of hundreds of tests; ctest has done it for them.
int shared_server(const std::string& kind, const std::string& options) {
  const auto folder = shared_server_folder(kind);
  if (std::getenv("TEST_SERVERS_STARTED") == nullptr) return start_server(kind, folder, options);
  std::ifstream file{folder / "url"};
  std::string url;
  if (!std::getline(file, url))
    throw std::runtime_error("no server in " + folder.string() + "; is it in FIXTURES_REQUIRED?");
  return port_in(url);
}

}  // namespace easyretry::test
