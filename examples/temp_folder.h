#pragma once
// A folder that is removed when the example ends.

#include <filesystem>
#include <string>

#include <stdlib.h>

struct TempFolder {
  std::filesystem::path path = make();

  ~TempFolder() { std::filesystem::remove_all(path); }

 private:
  static std::filesystem::path make() {
    std::string name = (std::filesystem::temp_directory_path() / "easyretry-example-XXXXXX").string();
    return mkdtemp(name.data());
  }
};
