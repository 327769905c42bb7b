#include "server/writable.h"

#include <cerrno>
#include <system_error>

#include <unistd.h>

namespace easyretry::server {

int trouble_writing(const std::filesystem::path& file) {
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) return EISDIR;
  if (::access(file.c_str(), W_OK) == 0) return 0;
  if (errno != ENOENT) return errno;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
}

}  // namespace easyretry::server
