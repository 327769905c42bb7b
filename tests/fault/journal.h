#pragma once
// What happened, written down outside of the store under test: one line an event, one file a process, each line with
// a single append, so that a killed process leaves whole lines.
//
//   ack KEY          submit has returned
//   doubt KEY        submit could not say whether it was stored; it was not sent again
//   start ID FENCE TIME, end ID FENCE TIME
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
  std::string what;
  std::string subject;  // key or id
  std::int64_t fence = 0;
  std::int64_t micros = 0;
};

// All journals of a folder, those of the first process first.
std::vector<JournalEvent> read_journals(const std::filesystem::path& folder);

// How far a process has come, while it writes: each look reads only what is new.
class JournalCounter {
 public:
  explicit JournalCounter(std::filesystem::path path) : path_(std::move(path)) {}
  std::size_t events();
  std::size_t submitted();  // acknowledged or in doubt

 private:
  void look();

  const std::filesystem::path path_;
  std::streamoff read_ = 0;
  std::size_t events_ = 0;
  std::size_t submitted_ = 0;
};

std::filesystem::path journal_path(const std::filesystem::path& folder, int life);
std::int64_t wall_micros();

}  // namespace easyretry::fault
