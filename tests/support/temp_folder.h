#pragma once
// A new folder for a test or benchmark, removed at its end.

#include <filesystem>
#include <stdexcept>
#include <string>

#include <stdlib.h>

namespace easyretry::test {

class TempFolder {
 public:
  TempFolder() : TempFolder(std::filesystem::temp_directory_path()) {}
  explicit TempFolder(const std::filesystem::path& in) {
    std::string name = (in / "easyretry-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder like " + name);
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;  // a folder left behind is no reason to fail
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string sqlite_url(const std::string& file = "retry.db") const { return "sqlite:" + (path_ / file).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace easyretry::test
