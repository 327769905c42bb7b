#pragma once
// A journal of events, outside the store under test: one line per event, one file per process. Each line is a single
// append, so a killed process leaves whole lines.
//
//   clock TIME       as the process sees it
//   ack KEY          submit has returned
//   doubt KEY        submit could not say whether it was stored; it was not sent again
//   start ID FENCE TIME DUE, end ID FENCE TIME
//   success KEY, failure KEY        a callback has run

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace easyretry::fault {

class JournalWriter {
 public:
  explicit JournalWriter(const std::filesystem::path& path);
  ~JournalWriter();
  JournalWriter(const JournalWriter&) = delete;
  JournalWriter& operator=(const JournalWriter&) = delete;

  void write(const std::string& line);

 private:
  int file_;
};

struct JournalEvent {
  int life = 0;  // which process
  std::string what{};
  std::string subject{};  // key, id, or time of a clock
  std::int64_t fence = 0;
  std::int64_t micros = 0;
  std::int64_t due = 0;  // in microseconds, too
};

// Reads a journal while its process writes it: each call reads only the new lines.
class JournalReader {
 public:
  JournalReader(std::filesystem::path path, int life) : path_(std::move(path)), life_(life) {}
  // Nothing of a process that was killed before it could write.
  const std::vector<JournalEvent>& events();
  std::size_t submitted();  // acknowledged or in doubt

 private:
  const std::filesystem::path path_;
  const int life_;
  std::streamoff read_ = 0;
  std::vector<JournalEvent> events_;
  std::size_t submitted_ = 0;
};

std::filesystem::path journal_path(const std::filesystem::path& folder, int life);
// By the clock of this machine, also where a process has another one (another_machine.cpp).
std::int64_t wall_micros();

}  // namespace easyretry::fault
