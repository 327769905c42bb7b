#pragma once
// Bearer tokens and their rights. Only hashes are stored, in a file with one token per line:
//
//   # name   role[+payloads]   namespace   SHA-256 of the token
//   ops      operator          payments    9f86d081884c7d65…
//
// The file is read again when it changes. Thread-safe.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/config.h>
#include <easyretry/time.h>

namespace easyretry::server {

enum class Right : std::uint8_t {
  none = 0,  // any token will do
  view = 1,
  submit = 2,
  work = 4,        // lease tasks, with their arguments, and settle them
  operate = 8,     // end, requeue, pause
  payloads = 16,   // see the arguments of any task
  administer = 32  // change the store itself
};

inline constexpr std::string_view kAnyNamespace = "*";

struct Token {
  std::string name;
  std::string role;  // viewer, submitter, worker, application, operator or admin; "+payloads" may follow
  std::string name_space;
  std::string hash;                      // lower-case hex
  std::optional<TimePoint> last_used{};  // by a request to this process; only all() sets it

  bool may(Right right) const;
  bool may_in(std::string_view wanted) const { return name_space == kAnyNamespace || name_space == wanted; }
};

// 256 random bits, "er_…".
std::string new_secret();
std::string hash_of(std::string_view secret);

class Tokens {
 public:
  // Throws std::runtime_error that names file and line, or says why the file cannot be read. Without a file there are
  // no tokens.
  explicit Tokens(std::filesystem::path file);

  // The time that this takes reveals nothing about a secret: hashes are compared, and an attacker who learns the start
  // of a hash by timing would still have to find 256 random bits with that hash.
  std::optional<Token> find(std::string_view secret) { return with_hash(hash_of(secret)); }
  std::optional<Token> with_hash(const std::string& hash);
  std::vector<Token> all();
  // Writes the file again, readable only by its owner. Throws std::invalid_argument for a name that is taken or an
  // unknown role.
  void add(const Token& token);
  bool remove(const std::string& name);

 private:
  void read_if_changed();
  void write() const;

  const std::filesystem::path file_;
  std::mutex mutex_;
  // Guarded by mutex_
  std::map<std::string, Token> by_hash_;
  std::map<std::string, TimePoint> used_;  // by hash
  std::string read_;                       // fingerprint of the file that was read
};

// The first start creates a token for everything. Returns the file with its secret; nullopt if there are tokens
// already. Throws std::runtime_error if the file cannot be written.
std::optional<std::string> make_first_token(const ServerConfig& server);
// Throws as make_first_token() would, and creates nothing.
void require_place_for_first_token(const ServerConfig& server);

// The errno with which writing or creating the file would fail; 0 if it would succeed. Creates nothing.
int trouble_writing(const std::filesystem::path& file);

}  // namespace easyretry::server
