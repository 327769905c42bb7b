#pragma once
// The source of a configuration's text: a file, or Nacos.

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
  // Nullopt if there is no text, or it cannot be read.
  virtual std::optional<std::string> read() = 0;
  // The reason, after read() returned nullopt.
  virtual std::string why_not() const = 0;
  // False if it has not been reached yet, so that there may be a text.
  virtual bool reached() const { return true; }
};

// A path, or nacos://user:password@host:8848/data-id, for which it waits up to 3 s. Throws std::invalid_argument if the
// url is invalid.
std::shared_ptr<Source> open_source(const std::filesystem::path& where, LogSink log);

}  // namespace easyretry::config
