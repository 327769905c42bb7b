#pragma once
// The current secrets of a webhook, one "whsec_…" per line; two during a rotation. The file is read again when it has
// changed. Thread-safe.

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "webhook/signature.h"

namespace easyretry::webhook {

class SecretsFile {
 public:
  // Throws std::invalid_argument with the file and how to create it, never with a secret.
  explicit SecretsFile(std::filesystem::path file);

  std::vector<SigningSecret> current();

 private:
  const std::filesystem::path file_;
  std::mutex mutex_;
  // Guarded by mutex_
  std::vector<SigningSecret> secrets_;
  std::string read_;  // fingerprint of the file that was read
};

}  // namespace easyretry::webhook
