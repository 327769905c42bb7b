#pragma once

#include <string>

namespace easyretry::alert {

// The first line of a file, without white space around it. Throws std::invalid_argument that names the file.
std::string secret_line(const std::string& file);

}  // namespace easyretry::alert
