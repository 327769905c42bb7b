#pragma once
// Who may do what: bearer tokens, of which only hashes are kept, in a file of one token a line:
//
//   # name   role[+payloads]   namespace   SHA-256 of the token
//   ops      operator          payments    9f86d081884c7d65…
//
// Read again when it has changed. Thread-safe.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/time.h>

namespace easyretry::server {

enum class Right : std::uint8_t {
  view = 1,
  submit = 2,
  work = 4,        // lease tasks, with their arguments, and say what became of them
  operate = 8,     // cancel, requeue, pause
  payloads = 16,   // see the arguments of any task
  administer = 32  // change the store itself
};

inline constexpr std::string_view kAnyNamespace = "*";

struct Token {
  std::string name;
  std::string role;  // viewer, submitter, worker, application, operator or admin; "+payloads" may follow
  std::string space;
  std::string hash;  // lower-case hex

  bool may(Right right) const;
  bool may_in(std::string_view wanted) const { return space == kAnyNamespace || space == wanted; }
};

// 256 random bits, "er_…".
std::string new_secret();
std::string hash_of(std::string_view secret);

class Tokens {
 public:
  // Throws std::runtime_error that names file and line. A file that is not there is no error: nobody may do anything.
  explicit Tokens(std::filesystem::path file);

  // How long it takes tells nothing about a secret: hashes are compared, and who could learn the beginning of one by
  // the clock would still have to find 256 random bits that hash to it.
  std::optional<Token> find(std::string_view secret);
  std::vector<Token> all();
  // Writes the file anew, readable by its owner alone. Throws std::invalid_argument for a name that is taken or a role
  // that is none.
  void add(const Token& token);
  bool remove(const std::string& name);

 private:
  void read_if_changed();
  void write() const;

  const std::filesystem::path file_;
  std::mutex mutex_;
  // Guarded by mutex_
  std::map<std::string, Token> by_hash_;
  std::string read_;  // which file, as of when
};

}  // namespace easyretry::server
