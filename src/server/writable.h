#pragma once

#include <filesystem>

namespace easyretry::server {

// Why this process could not write the file, or make it where it is not there yet: an errno, 0 for nothing. Makes
// nothing.
int trouble_writing(const std::filesystem::path& file);

}  // namespace easyretry::server
