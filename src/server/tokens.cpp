#include "server/tokens.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fingerprint.h"
#include "base/harmless.h"
#include "base/utf8.h"
#include "seal/sealer.h"

namespace easyretry::server {
namespace {

constexpr std::string_view kSecretPrefix = "er_";
constexpr std::string_view kWithPayloads = "+payloads";

std::string hex_of(std::span<const unsigned char> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

constexpr unsigned bit(Right right) {
  return static_cast<unsigned>(right);
}

// Nullopt for an unknown role.
std::optional<unsigned> rights_of(std::string_view role) {
  unsigned rights = 0;
  if (role.ends_with(kWithPayloads)) {
    rights = bit(Right::payloads);
    role.remove_suffix(kWithPayloads.size());
  }
  if (role == "viewer") return rights | bit(Right::view);
  if (role == "submitter") return rights | bit(Right::view) | bit(Right::submit);
  if (role == "worker") return rights | bit(Right::work);
  if (role == "application") return rights | bit(Right::view) | bit(Right::submit) | bit(Right::work);
  if (role == "operator") return rights | bit(Right::view) | bit(Right::operate);
  if (role == "admin") {
    return rights | bit(Right::view) | bit(Right::submit) | bit(Right::work) | bit(Right::operate) |
           bit(Right::administer);
  }
  return std::nullopt;
}

// Names appear in responses, which are UTF-8.
bool is_text(std::string_view text) {
  return base::invalid_utf8(text) == std::string_view::npos;
}

bool is_word(std::string_view text) {
  return !text.empty() && text.find_first_of(" #") == std::string_view::npos && base::one_line(text) == text;
}

Token token_of(const std::string& line, const std::string& place) {
  std::istringstream words{line};
  Token token;
  std::string more;
  words >> token.name >> token.role >> token.name_space >> token.hash;
  const bool is_hash = token.hash.size() == 64 && token.hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_text(line) || !is_hash || words >> more || !rights_of(token.role)) {
    throw std::runtime_error(
        place + ": not a token; a line has name, role, namespace and hash, as written by `easyretry token`");
  }
  return token;
}

// A file that exists but cannot be read does not count as a file without tokens: every client would be turned away, and
// the next change would replace the file.
void require_readable(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const int error = fd < 0 ? errno : std::filesystem::is_directory(file) ? EISDIR : 0;
  if (fd >= 0) ::close(fd);
  if (error == 0) return;
  throw std::runtime_error("cannot read the tokens in " + file.string() + ": " +
                           std::generic_category().message(error) +
                           "; correct the file and its permissions, or set server.tokens to another file");
}

std::map<std::string, Token> read(const std::filesystem::path& file) {
  std::map<std::string, Token> tokens;
  std::error_code unknown;
  if (std::filesystem::symlink_status(file, unknown).type() == std::filesystem::file_type::not_found) return tokens;
  require_readable(file);
  std::ifstream in{file};
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos || line.front() == '#') continue;
    Token token = token_of(line, file.string() + ":" + std::to_string(number));
    const std::string hash = token.hash;
    tokens.insert_or_assign(hash, std::move(token));
  }
  return tokens;
}

// Atomically, and never readable by others, not even for a moment.
void write_privately(const std::filesystem::path& file, const std::string& text) {
  const std::string next = file.string() + ".new";
  const int fd = ::open(next.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const bool written =
      fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
  if (fd >= 0) ::close(fd);
  if (!written || ::rename(next.c_str(), file.c_str()) != 0) {
    throw std::runtime_error("cannot write " + file.string() + ": " + std::generic_category().message(errno));
  }
}

}  // namespace

bool Token::may(Right right) const {
  return right == Right::none || (rights_of(role).value_or(0) & bit(right)) != 0;
}

std::string new_secret() {
  std::array<unsigned char, 32> bytes{};
  if (!seal::random_bytes(bytes)) throw std::runtime_error("the operating system provides no random bytes");
  return std::string{kSecretPrefix} + hex_of(bytes);
}

std::string hash_of(std::string_view secret) {
  std::array<unsigned char, 32> digest{};
  if (EVP_Digest(secret.data(), secret.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    throw std::runtime_error("OpenSSL has no SHA-256");
  }
  return hex_of(digest);
}

Tokens::Tokens(std::filesystem::path file) : file_(std::move(file)) {
  read_ = base::fingerprint(file_);
  by_hash_ = read(file_);  // always: a link to a missing file looks like no file
}

std::optional<Token> Tokens::with_hash(const std::string& hash) {
  const std::lock_guard lock{mutex_};
  read_if_changed();
  const auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) return std::nullopt;
  used_[hash] = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  return found->second;
}

std::vector<Token> Tokens::all() {
  const std::lock_guard lock{mutex_};
  read_if_changed();
  std::vector<Token> all;
  for (const auto& [hash, token] : by_hash_) {
    all.push_back(token);
    if (const auto used = used_.find(hash); used != used_.end()) all.back().last_used = used->second;
  }
  std::sort(all.begin(), all.end(), [](const Token& a, const Token& b) { return a.name < b.name; });
  return all;
}

void Tokens::add(const Token& token) {
  if (!is_word(token.name) || !is_word(token.name_space)) {
    throw std::invalid_argument("names of tokens and namespaces must be UTF-8 without spaces and control characters");
  }
  if (!rights_of(token.role)) {
    throw std::invalid_argument("\"" + token.role +
                                "\" is not a role; use viewer, submitter, worker, application, operator or admin, "
                                "optionally followed by +payloads");
  }
  const std::lock_guard lock{mutex_};
  read_if_changed();
  for (const auto& [hash, known] : by_hash_) {
    if (known.name == token.name) throw std::invalid_argument("a token named " + token.name + " already exists");
  }
  by_hash_.emplace(token.hash, token);
  write();
}

bool Tokens::remove(const std::string& name) {
  const std::lock_guard lock{mutex_};
  read_if_changed();
  if (std::erase_if(by_hash_, [&](const auto& entry) { return entry.second.name == name; }) == 0) return false;
  write();
  return true;
}

void Tokens::read_if_changed() {
  const std::string there = base::fingerprint(file_);
  if (there == read_) return;
  by_hash_ = read(file_);
  std::erase_if(used_, [this](const auto& used) { return !by_hash_.contains(used.first); });
  read_ = there;
}

void Tokens::write() const {
  std::string text = "# name role namespace hash: written by `easyretry token`, read again when it changes\n";
  for (const auto& [hash, token] : by_hash_) {
    text.append(token.name)
        .append(" ")
        .append(token.role)
        .append(" ")
        .append(token.name_space)
        .append(" ")
        .append(hash);
    text.append("\n");
  }
  write_privately(file_, text);
}

namespace {

constexpr std::string_view kFirstTokenName = "first";

std::string file_of(const ServerConfig& server) {
  return server.tokens + ".first";
}

[[noreturn]] void refuse_first_token(const std::string& file, int error) {
  throw std::runtime_error("cannot write the first token to " + file + ": " + std::generic_category().message(error) +
                           "; make the folder writable, or create a token with `easyretry token create`");
}

// The secret itself, readable only by the owner, beside the hashes: to be moved to a safe place and deleted.
void write_secret(const std::string& file, const std::string& secret) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const std::string text = secret + "\n";
  const bool written = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!written) refuse_first_token(file, error);
}

}  // namespace

std::optional<std::string> make_first_token(const ServerConfig& server) {
  if (std::filesystem::exists(server.tokens)) return std::nullopt;
  const std::string secret = new_secret();
  std::string file = file_of(server);
  write_secret(file, secret);
  Tokens{server.tokens}.add(
      {std::string{kFirstTokenName}, "admin+payloads", std::string{kAnyNamespace}, hash_of(secret)});
  return file;
}

void require_place_for_first_token(const ServerConfig& server) {
  if (std::filesystem::exists(server.tokens)) return;
  const std::string file = file_of(server);
  if (std::filesystem::exists(file)) refuse_first_token(file, EEXIST);
  if (const int error = trouble_writing(file)) refuse_first_token(file, error);
}

int trouble_writing(const std::filesystem::path& file) {
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) return EISDIR;
  if (::access(file.c_str(), W_OK) == 0) return 0;
  if (errno != ENOENT) return errno;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

}  // namespace easyretry::server
