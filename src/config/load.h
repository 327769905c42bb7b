#pragma once

#include <filesystem>
#include <string>

namespace easyretry::config {

// What is in the file, or, where that cannot be told, why: in `problem`. Reads a byte more than the largest file may
// have, so that one too large is noticed and one without end does no harm.
std::string read_file(const std::filesystem::path& file, std::string& problem);

}  // namespace easyretry::config
