#include "fault/journal.h"

#include <chrono>
#include <fstream>
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

std::vector<JournalEvent> read_journals(const std::filesystem::path& folder) {
  std::vector<JournalEvent> events;
  for (int life = 0; std::filesystem::exists(journal_path(folder, life)); ++life) {
    std::ifstream file{journal_path(folder, life)};
    for (std::string line; std::getline(file, line);) {
      JournalEvent event{life, {}, {}, 0, 0};
      std::istringstream{line} >> event.what >> event.subject >> event.fence >> event.micros;
      events.push_back(std::move(event));
    }
  }
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
