#include <cstdio>

#include <easyretry/options.h>

namespace easyretry {

LogSink stderr_log() {
  return [](LogLevel level, std::string_view text) {
    if (level == LogLevel::info) return;
    std::fprintf(stderr, "easyretry: %s: %.*s\n", level == LogLevel::error ? "error" : "warning",
                 static_cast<int>(text.size()), text.data());
  };
}

}  // namespace easyretry
