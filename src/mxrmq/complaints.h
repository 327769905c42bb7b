#pragma once
// Says that something does not work once, and not each time that it is tried; then, once, that it does again. For one
// thread.

#include <map>
#include <string>
#include <string_view>

#include <easyretry/options.h>

namespace easyretry::mxrmq {

class Complaints {
 public:
  explicit Complaints(LogSink log) : log_(std::move(log)) {}

  void failed(const std::string& what, std::string_view why) {
    const auto [found, fresh] = said_.try_emplace(what, why);
    if (!fresh && found->second == why) return;
    found->second = why;
    log_(LogLevel::warning, "mxrmq: " + what + "; retrying: " + std::string{why});
  }
  void worked(const std::string& what) {
    if (said_.erase(what) > 0) log_(LogLevel::info, "mxrmq: resolved: " + what);
  }

 private:
  const LogSink log_;
  std::map<std::string, std::string> said_;  // and why
};

}  // namespace easyretry::mxrmq
