#include "fault/journal.h"

#include <ctime>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fcntl.h>
#include <sys/syscall.h>
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

const std::vector<JournalEvent>& JournalReader::events() {
  std::ifstream file{path_};
  file.seekg(read_);
  for (std::string line; std::getline(file, line) && !file.eof();) {
    read_ = file.tellg();
    JournalEvent event{.life = life_};
    std::istringstream{line} >> event.what >> event.subject >> event.fence >> event.micros >> event.due;
    if (event.what == "ack" || event.what == "doubt") ++submitted_;
    events_.push_back(std::move(event));
  }
  return events_;
}

std::size_t JournalReader::submitted() {
  events();
  return submitted_;
}

std::filesystem::path journal_path(const std::filesystem::path& folder, int life) {
  return folder / ("journal-" + std::to_string(life) + ".txt");
}

std::int64_t wall_micros() {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000 + now.tv_nsec / 1'000;
}

}  // namespace easyretry::fault
