#pragma once

#include "config/source.h"

namespace easyretry::config {

// Reads a byte more than the largest file may have, so that one too large is noticed and one without end does no harm.
class FileSource final : public Source {
 public:
  explicit FileSource(std::filesystem::path file) : file_(std::move(file)) {}
  std::string name() const override { return file_.string(); }
  std::optional<std::string> read() override;
  std::string why_not() const override { return problem_; }

 private:
  const std::filesystem::path file_;
  std::string problem_;
};

}  // namespace easyretry::config
