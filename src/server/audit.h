#pragma once
// The audit log: changes by operators, appended to a file, one JSON object per line. Thread-safe.

#include <atomic>
#include <filesystem>
#include <string>

#include <easyretry/options.h>

#include "server/call.h"

namespace easyretry::server {

class Audit {
 public:
  // An empty path disables it. Throws std::runtime_error if the file cannot be written.
  Audit(const std::filesystem::path& file, LogSink log);
  ~Audit();
  // Throws as the constructor would, and creates nothing.
  static void require_writable(const std::filesystem::path& file);
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  // Call it before a change, which must not happen if it could not be logged afterwards. Throws Refusal.
  void require_space() const;
  void note(const Call& call, int status);

 private:
  const std::filesystem::path path_;
  const LogSink log_;
  int file_ = -1;
  std::atomic<bool> torn_ = false;  // the file ends in the middle of a line
};

}  // namespace easyretry::server
