#pragma once

#include <filesystem>
#include <string>

namespace easyretry::base {

// Changes whenever the file does: a file that is replaced has a new inode, and one that is edited has a new time or
// size. Empty if there is no such file.
std::string fingerprint(const std::filesystem::path& file);

}  // namespace easyretry::base
