#include <cerrno>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <easyretry/encryption.h>

#include "doctor/checks.h"
#include "server/tokens.h"
#include "webhook/secrets_file.h"

namespace easyretry::app {
namespace {

using std::filesystem::perms;

bool others_may(const std::string& file, perms what) {
  std::error_code unknown;
  const perms granted = std::filesystem::status(file, unknown).permissions();
  return !unknown && (granted & what) != perms::none;
}

// True also for a dangling link, and for a file in a folder that this user may not enter.
bool is_there(const std::string& file) {
  std::error_code unknown;
  return std::filesystem::symlink_status(file, unknown).type() != std::filesystem::file_type::not_found;
}

bool is_of_another_user(const std::string& file) {
  struct stat found {};
  return ::stat(file.c_str(), &found) == 0 && found.st_uid != ::geteuid();
}

// A finding if the file cannot be read. That may be intended if it belongs to another user: the daemon's.
std::optional<Finding> unreadable(const char* check, const std::string& file) {
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) {
    return Finding{Health::fail, check, file + " is a folder", "name a file in the configuration"};
  }
  const int opened = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (opened >= 0) {
    ::close(opened);
    return std::nullopt;
  }
  const int error = errno;
  const std::string what = file + " cannot be read: " + std::generic_category().message(error);
  if (error == EACCES && is_of_another_user(file)) {
    return Finding{Health::warn, check, what, "run this command as the user that owns the file"};
  }
  return Finding{Health::fail, check, what, "a daemon cannot read it either; correct the file and its permissions"};
}

void check_tokens(const std::string& file, Findings& findings) {
  constexpr const char* kCheck = "tokens";
  if (!is_there(file)) return;
  if (others_may(file, perms::group_write | perms::others_write)) {
    findings.push_back(
        {Health::fail, kCheck, file + " is writable by others, who can give anyone access", "chmod 600 " + file});
    return;
  }
  if (auto finding = unreadable(kCheck, file)) return findings.push_back(*std::move(finding));
  try {
    const std::size_t count = server::Tokens{file}.all().size();
    const bool readable = others_may(file, perms::group_read | perms::others_read);
    findings.push_back(
        readable ? Finding{Health::warn, kCheck, file + " can be read by others", "chmod 600 " + file}
                 : Finding{Health::ok, kCheck, fmt::format("{} in {}, accessible only to its owner", count, file)});
  } catch (const std::runtime_error& e) {
    findings.push_back(
        {Health::fail, kCheck, e.what(), "correct or delete that line; `easyretry token create` creates new tokens"});
  }
}

void check_first_token(const std::string& tokens, Findings& findings) {
  const std::string file = tokens + ".first";
  if (!is_there(file)) return;
  findings.push_back({Health::warn, "first token", file + " contains a token with full access",
                      "move it to a safe place, or create other tokens and run `easyretry token revoke first`"});
}

void check_private_key(const std::string& file, Findings& findings) {
  if (file.empty() || !is_there(file)) return;
  if (auto finding = unreadable("private key", file)) return findings.push_back(*std::move(finding));
  const bool open = others_may(file, perms::others_read | perms::others_write | perms::group_write);
  findings.push_back(open ? Finding{Health::fail, "private key", file + " is open to others", "chmod 600 " + file}
                          : Finding{Health::ok, "private key", file + " is not open to others"});
}

void check_secrets(const Config& config, Findings& findings) {
  std::set<std::string> files;
  if (config.defaults.secrets_file) files.insert(*config.defaults.secrets_file);
  for (const auto& [name, handler] : config.handlers) {
    if (handler.secrets_file) files.insert(*handler.secrets_file);
  }
  for (const std::string& file : files) {
    try {
      const std::size_t count = webhook::SecretsFile{file}.current().size();
      findings.push_back({Health::ok, "webhook secrets", fmt::format("{} in {}", count, file)});
    } catch (const std::invalid_argument& e) {
      findings.push_back(
          {Health::fail, "webhook secrets", e.what(), "correct it; webhooks that use it cannot be signed"});
    }
  }
}

void check_encryption_keys(const KeyFolder& keys, Findings& findings) {
  if (keys.folder.empty() || !is_there(keys.folder)) return;
  constexpr const char* kCheck = "encryption keys";
  try {
    const std::size_t count = read_keys(keys).keys.size();
    findings.push_back({Health::ok, kCheck, fmt::format("{} in {}", count, keys.folder)});
  } catch (const std::invalid_argument& e) {
    findings.push_back({Health::fail, kCheck, e.what(), "correct it; no engine starts without its keys"});
  }
}

// Files that are only read: no finding if that works.
void check_readable(const char* check, const std::string& file, Findings& findings) {
  if (file.empty() || !is_there(file)) return;
  if (auto finding = unreadable(check, file)) findings.push_back(*std::move(finding));
}

void check_channels(const AlertsConfig& alerts, Findings& findings) {
  for (const auto& [name, channel] : alerts.channels) {
    for (const std::string& file : {channel.secret_file, channel.password_file, channel.ca_file}) {
      check_readable("alert channels", file, findings);
    }
  }
}

}  // namespace

Findings check_files(const Config& config) {
  Findings findings;
  check_tokens(config.server.tokens, findings);
  check_first_token(config.server.tokens, findings);
  check_private_key(config.server.private_key, findings);
  check_readable("certificate", config.server.certificate, findings);
  check_secrets(config, findings);
  check_encryption_keys(config.encryption, findings);
  check_channels(config.alerts, findings);
  return findings;
}

}  // namespace easyretry::app
