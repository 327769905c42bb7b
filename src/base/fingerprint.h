#pragma once

#include <filesystem>
#include <string>

namespace easyretry::base {

// Another one after every change: a file that is written anew has another inode, and an editor changes the time or the
// size. Empty: there is none.
std::string fingerprint(const std::filesystem::path& file);

}  // namespace easyretry::base
