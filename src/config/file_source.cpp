#include "config/file_source.h"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "config/read_yaml.h"

namespace easyretry::config {

std::optional<std::string> FileSource::read() {
  std::error_code ignored;  // what cannot be looked at cannot be opened either
  if (std::filesystem::is_directory(file_, ignored)) {
    problem_ = "is a folder; give the path of a YAML file";
    return std::nullopt;
  }
  errno = 0;
  std::ifstream stream{file_, std::ios::binary};
  std::string content(kLargestFile + 1, '\0');
  if (stream.is_open()) stream.read(content.data(), static_cast<std::streamsize>(content.size()));
  if (!stream.is_open() || stream.bad()) {
    problem_ = "cannot be read: " + std::generic_category().message(errno) + "; give the path of a YAML file";
    return std::nullopt;
  }
  content.resize(static_cast<std::size_t>(stream.gcount()));
  return content;
}

}  // namespace easyretry::config
