#pragma once
// The live secrets of a webhook, one "whsec_…" a line: two while one is being replaced by another. Read again when the
// file has changed. Thread-safe.

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "webhook/signature.h"

namespace easyretry::webhook {

class SecretsFile {
 public:
  // Throws std::invalid_argument that names the file and says how to make one, never a secret.
  explicit SecretsFile(std::filesystem::path file);

  std::vector<SigningSecret> current();

 private:
  const std::filesystem::path file_;
  std::mutex mutex_;
  // Guarded by mutex_
  std::vector<SigningSecret> secrets_;
  std::string read_;  // which file, as of when
};

}  // namespace easyretry::webhook
