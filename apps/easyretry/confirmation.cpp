#include "confirmation.h"

#include <iostream>
#include <stdexcept>

#include <unistd.h>

namespace easyretry::app {

void require_yes(const std::string& question) {
  if (isatty(STDIN_FILENO) == 0) {
    throw std::runtime_error(question + " there is no terminal to ask; use --yes, or check first with --dry-run");
  }
  std::cerr << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  if (answer != "y" && answer != "yes") throw std::runtime_error("nothing was done");
}

}  // namespace easyretry::app
