#include "alert/secret_line.h"

#include <fstream>
#include <stdexcept>

namespace easyretry::alert {

std::string secret_line(const std::string& file) {
  std::ifstream in{file};
  std::string line;
  std::getline(in, line);
  const auto first = line.find_first_not_of(" \t\r");
  if (first == std::string::npos) {
    throw std::invalid_argument(file + " cannot be read, or its first line is empty; write the secret there");
  }
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace easyretry::alert
