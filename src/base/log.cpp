#include <cstdio>

#include <easyretry/options.h>

#include "base/harmless.h"

namespace easyretry {

LogSink stderr_log() {
  return [](LogLevel level, std::string_view text) {
    if (level == LogLevel::info) return;
    std::fprintf(stderr, "easyretry: %s: %s\n", level == LogLevel::error ? "error" : "warning",
                 base::one_line(text).c_str());
  };
}

}  // namespace easyretry
