#include "config/source.h"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/part.h"
#include "base/url.h"
#include "config/node.h"

namespace easyretry::config {
namespace {

// Reads one byte more than a file may have, so that a file that is too large is noticed and an endless one does no
// harm.
class FileSource final : public Source {
 public:
  explicit FileSource(std::string file) : file_(std::move(file)) {}
  std::string name() const override { return file_; }
  std::optional<std::string> read() override;
  std::string why_not() const override { return problem_; }

 private:
  const std::string file_;
  std::string problem_;
};

std::optional<std::string> FileSource::read() {
  std::error_code ignored;  // then it cannot be opened either
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

}  // namespace

std::shared_ptr<Source> open_source(const std::string& where, LogSink log) {
  if (!where.starts_with("nacos://")) return std::make_shared<FileSource>(where);
  if (easyretry_nacos_config == nullptr) {
    throw std::invalid_argument(base::without_password(where) + ": " + base::missing_part("Nacos", "nacos"));
  }
  return easyretry_nacos_config()->open(where, std::move(log));
}

}  // namespace easyretry::config
