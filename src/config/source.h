#pragma once
// Where a configuration's text is: in a file, or in Nacos.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <easyretry/options.h>

namespace easyretry::config {

// One thread at a time.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::string name() const = 0;  // for messages
  // Nothing: there is none, or it cannot be read.
  virtual std::optional<std::string> read() = 0;
  // After nothing was read.
  virtual std::string why_not() const = 0;
  // False: it has not been reached yet, and there may be a text.
  virtual bool reached() const { return true; }
};

// A path, or nacos://user:password@host:8848/data-id, which is waited for up to 3 s. Throws std::invalid_argument for a
// url that is wrong.
std::shared_ptr<Source> open_source(const std::filesystem::path& where, LogSink log);

}  // namespace easyretry::config
