#pragma once
// Who changed what, one JSON object a line, appended to a file. Thread-safe.

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

  void note(const Call& call, int status) const;

 private:
  const LogSink log_;
  int file_ = -1;
};

}  // namespace easyretry::server
