#include <filesystem>
#include <set>

#include <fmt/format.h>

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

void check_tokens(const std::string& file, Findings& findings) {
  constexpr const char* kCheck = "tokens";
  if (!std::filesystem::exists(file)) return;
  if (others_may(file, perms::group_write | perms::others_write)) {
    findings.push_back(
        {Health::fail, kCheck, file + " is writable by others, who can give anyone access", "chmod 600 " + file});
    return;
  }
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
  if (!std::filesystem::exists(file)) return;
  findings.push_back({Health::warn, "first token", file + " contains a token with full access",
                      "move it to a safe place, or create other tokens and run `easyretry token revoke first`"});
}

void check_private_key(const std::string& file, Findings& findings) {
  if (file.empty() || !std::filesystem::exists(file)) return;
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

}  // namespace

Findings check_files(const Config& config) {
  Findings findings;
  check_tokens(config.server.tokens, findings);
  check_first_token(config.server.tokens, findings);
  check_private_key(config.server.private_key, findings);
  check_secrets(config, findings);
  return findings;
}

}  // namespace easyretry::app
