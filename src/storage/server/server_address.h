#pragma once
// The address of a server, with our credentials: //user:password@host:port/database.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/url.h"

namespace easyretry::storage::server {

// A password, or the file that has it, or the command that prints it. The file is read and the command is run for each
// new connection, so that the password can change while connections are open.
class Password {
 public:
  Password() = default;
  Password(std::string text) : text_(std::move(text)) {}  // implicitly: most are texts
  Password(const char* text) : text_(text) {}
  static Password in(std::filesystem::path file);
  static Password printed_by(std::vector<std::string> command);  // the program and its arguments

  bool empty() const { return text_.empty() && file_.empty() && command_.empty(); }
  // The first line. Throws ServerError if there is none.
  std::string current() const;
  friend bool operator==(const Password&, const Password&) = default;

 private:
  std::string text_;
  std::filesystem::path file_;
  std::vector<std::string> command_;
};

// The options of a url that name the file and the command.
inline constexpr std::string_view kPasswordFile = "password_file";
inline constexpr std::string_view kPasswordCommand = "password_command";

// Whether this is one of the options that parse_server_address reads.
bool is_of_address(std::string_view option);

struct ServerAddress {
  std::string user;
  Password password;
  std::string host;
  int port = 0;  // 0: the usual port of such a server
  std::string database;
};

// Decodes %-escapes. Throws std::invalid_argument that says what is missing, without the password.
ServerAddress parse_server_address(const StoreUrl& parsed, std::string_view url);

// The same for //user:password@host:port,host:port/database: one address for each host, in their order.
std::vector<ServerAddress> parse_server_addresses(const StoreUrl& parsed, std::string_view url);

}  // namespace easyretry::storage::server
