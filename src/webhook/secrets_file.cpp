#include "webhook/secrets_file.h"

#include <fstream>
#include <stdexcept>

#include "base/fingerprint.h"

namespace easyretry::webhook {
namespace {

std::vector<SigningSecret> read(const std::filesystem::path& file) {
  std::vector<SigningSecret> secrets;
  std::ifstream in{file};
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    try {
      secrets.emplace_back(line);
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument(file.string() + ":" + std::to_string(number) + ": " + e.what());
    }
  }
  if (secrets.empty()) {
    throw std::invalid_argument(file.string() + " contains no secret for signing webhooks; create one with: " +
                                "echo whsec_$(openssl rand -base64 32) > " + file.string());
  }
  return secrets;
}

}  // namespace

SecretsFile::SecretsFile(std::filesystem::path file) : file_(std::move(file)) {
  current();
}

std::vector<SigningSecret> SecretsFile::current() {
  const std::lock_guard lock{mutex_};
  if (const std::string there = base::fingerprint(file_); secrets_.empty() || there != read_) {
    secrets_ = read(file_);
    read_ = there;
  }
  return secrets_;
}

}  // namespace easyretry::webhook
