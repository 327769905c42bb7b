#pragma once
// The audit log: changes by operators, appended to a file, one JSON object per line. The latest are kept in memory,
// even without a file. Thread-safe.

#include <atomic>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <easyretry/options.h>

namespace easyretry::server {

struct Call;

using AuditEntry = std::map<std::string, std::string>;  // a line of the file

class Audit {
 public:
  static constexpr std::size_t kMostKept = 500;  // entries in memory, up to 4 kB each

  // An empty path: no file. Throws std::runtime_error if the file cannot be written.
  Audit(const std::filesystem::path& file, LogSink log);
  ~Audit();
  // Throws as the constructor would, and creates nothing.
  static void require_writable(const std::filesystem::path& file);
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  // Call it before a change, which must not happen if it could not be logged afterwards. Throws Refusal.
  void require_namespace() const;
  void note(const Call& call, int status);

  std::vector<AuditEntry> latest() const;  // since the start, the newest first
  TimePoint since() const { return since_; }
  bool has_file() const { return file_ >= 0; }

 private:
  void write(const AuditEntry& entry);
  void keep(AuditEntry entry);

  const std::filesystem::path path_;
  const LogSink log_;
  const TimePoint since_ = system_clock().now();
  int file_ = -1;
  std::atomic<bool> torn_ = false;  // the file ends in the middle of a line
  mutable std::mutex mutex_;
  std::deque<AuditEntry> latest_;  // guarded by mutex_
};

}  // namespace easyretry::server
