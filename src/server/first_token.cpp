#include "server/first_token.h"

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/tokens.h"
#include "server/writable.h"

namespace easyretry::server {
namespace {

constexpr std::string_view kFirstTokenName = "first";

std::string file_of(const ServerConfig& server) {
  return server.tokens + ".first";
}

[[noreturn]] void refuse(const std::string& file, int error) {
  throw std::runtime_error("cannot write the first token to " + file + ": " + std::generic_category().message(error) +
                           "; make the folder writable, or make a token with `easyretry token create`");
}

// The secret itself, where only the owner reads it: beside the hashes, to be moved to a safe place and deleted.
void write_secret(const std::string& file, const std::string& secret) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  const std::string text = secret + "\n";
  const bool written = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (fd >= 0) ::close(fd);
  if (!written) refuse(file, error);
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
  if (std::filesystem::exists(file)) refuse(file, EEXIST);
  if (const int error = trouble_writing(file)) refuse(file, error);
}

}  // namespace easyretry::server
