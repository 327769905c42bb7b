#include "support/database_server.h"

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

// Runs servers.py and gives what it prints.
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

// servers.py clean knows the name.
std::filesystem::path new_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "easyretry-server-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder like " + name);
  return name;
}

int start_in(const std::filesystem::path& folder, ServerKind kind, const std::string& options) {
  return port_in(servers("start " + name_of(kind) + in(folder) + owned_by_us() + options));
}

// Asking servers.py takes 0.1 s, too long for each of hundreds of tests; ctest has done it for them.
int find_shared_server(ServerKind kind) {
  const auto folder = std::filesystem::path{EASYRETRY_SHARED_SERVERS} / name_of(kind);
  if (std::getenv("EASYRETRY_SERVERS_STARTED") == nullptr) return start_in(folder, kind, " --no-sync");
  std::ifstream file{folder / "url"};
  std::string url;
  if (!std::getline(file, url))
    throw std::runtime_error("no server in " + folder.string() + "; is it in FIXTURES_REQUIRED?");
  return port_in(url);
}

}  // namespace

std::string name_of(ServerKind kind) {
  return kind == ServerKind::postgres ? "postgres" : "mariadb";
}

std::string server_url(ServerKind kind, int port, const std::string& database) {
  const std::string scheme = kind == ServerKind::postgres ? "postgres" : "mysql";
  return scheme + "://easyretry:secret@127.0.0.1:" + std::to_string(port) + "/" + database;
}

DatabaseServer::DatabaseServer(ServerKind kind) : kind_(kind), folder_(new_folder()) {
  start();
}

DatabaseServer::~DatabaseServer() {
  try {
    servers("remove" + in(folder_));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());  // its watcher will try, too
  }
}

void DatabaseServer::kill() {
  servers("kill" + in(folder_));
}

void DatabaseServer::stop() {
  servers("stop" + in(folder_));
}

void DatabaseServer::start() {
  port_ = start_in(folder_, kind_, "");
}

int shared_server_port(ServerKind kind) {
  if (kind == ServerKind::postgres) {
    static const int port = find_shared_server(ServerKind::postgres);
    return port;
  }
  static const int port = find_shared_server(ServerKind::mariadb);
  return port;
}

std::string shared_server_url(ServerKind kind) {
  return server_url(kind, shared_server_port(kind));
}

std::filesystem::path shared_server_ca(ServerKind kind) {
  return std::filesystem::path{EASYRETRY_SHARED_SERVERS} / name_of(kind) / "tls/ca.crt";
}

}  // namespace easyretry::test
