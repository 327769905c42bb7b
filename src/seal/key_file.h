#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace easyretry::seal {

// What stands in a small file that only its owner may change and no stranger may read, without white space around it.
// Throws std::invalid_argument with the reason; what it read is wiped.
class KeyFile {
 public:
  explicit KeyFile(const std::filesystem::path& path);
  ~KeyFile();
  KeyFile(const KeyFile&) = delete;
  KeyFile& operator=(const KeyFile&) = delete;

  std::string_view text() const;

 private:
  std::string content_;
};

}  // namespace easyretry::seal
