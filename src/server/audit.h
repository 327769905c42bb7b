#pragma once
// Who changed what, one JSON object a line, appended to a file. Thread-safe.

#include <atomic>
#include <filesystem>
#include <string>

#include <easyretry/options.h>

#include "server/call.h"

namespace easyretry::server {

class Audit {
 public:
  // An empty path: nothing is kept. Throws std::runtime_error where the file cannot be written.
  Audit(const std::filesystem::path& file, LogSink log);
  ~Audit();
  // Throws as the constructor would, and makes nothing.
  static void require_writable(const std::filesystem::path& file);
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  // Asked before a change: what could not be written down afterwards must not be done. Throws Refusal.
  void require_room() const;
  void note(const Call& call, int status);

 private:
  const std::filesystem::path path_;
  const LogSink log_;
  int file_ = -1;
  std::atomic<bool> torn_ = false;  // the file ends in the middle of a line
};

}  // namespace easyretry::server
