#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace easyretry::app {

// A store like the one that is measured, as empty as that one was: a SQLite file of its own beside it, for as long as
// it takes.
class StoreBeside {
 public:
  StoreBeside(const std::string& url, const std::string& suffix) : url_(url) {
    constexpr std::string_view kSqlite = "sqlite:";
    if (!url.starts_with(kSqlite)) return;
    const std::size_t end = std::min(url.find('?'), url.size());
    file_ = url.substr(kSqlite.size(), end - kSqlite.size()) + suffix;
    url_ = std::string{kSqlite} + file_ + url.substr(end);
    remove();
  }
  ~StoreBeside() { remove(); }
  StoreBeside(const StoreBeside&) = delete;
  StoreBeside& operator=(const StoreBeside&) = delete;

  const std::string& url() const { return url_; }

 private:
  void remove() const {
    if (file_.empty()) return;
    std::error_code ignored;  // a file left behind is no reason to fail
    for (const char* suffix : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(file_ + suffix, ignored);
  }

  std::string url_;
  std::string file_;  // empty: nothing to remove
};

}  // namespace easyretry::app
