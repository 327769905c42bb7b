#include "fault/journal.h"

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <unistd.h>

namespace easyretry::fault {

JournalWriter::JournalWriter(const std::filesystem::path& path)
    : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
  if (file_ < 0) throw std::runtime_error("cannot write to " + path.string());
}

JournalWriter::~JournalWriter() {
  close(file_);
}

void JournalWriter::write(const std::string& line) {
  const std::string text = line + "\n";
  if (::write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("the journal could not be written");
  }
}

namespace {

void read_journal(const std::filesystem::path& path, int life, std::vector<JournalEvent>& events) {
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    JournalEvent event{life, {}, {}, 0, 0};
    std::istringstream{line} >> event.what >> event.subject >> event.fence >> event.micros;
    events.push_back(std::move(event));
  }
}

}  // namespace

// A life that was killed before it could write has no journal, and those after it have.
std::vector<JournalEvent> read_journals(const std::filesystem::path& folder) {
  std::map<int, std::filesystem::path> journals;
  for (const auto& entry : std::filesystem::directory_iterator{folder}) {
    int life = 0;
    if (std::sscanf(entry.path().filename().c_str(), "journal-%d.txt", &life) == 1) journals[life] = entry.path();
  }
  std::vector<JournalEvent> events;
  for (const auto& [life, path] : journals) read_journal(path, life, events);
  return events;
}

std::size_t JournalCounter::events() {
  look();
  return events_;
}

std::size_t JournalCounter::submitted() {
  look();
  return submitted_;
}

void JournalCounter::look() {
  std::ifstream file{path_};
  file.seekg(read_);
  for (std::string line; std::getline(file, line) && !file.eof();) {
    read_ = file.tellg();
    ++events_;
    if (line.starts_with("ack") || line.starts_with("doubt")) ++submitted_;
  }
}

std::filesystem::path journal_path(const std::filesystem::path& folder, int life) {
  return folder / ("journal-" + std::to_string(life) + ".txt");
}

std::int64_t wall_micros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace easyretry::fault
