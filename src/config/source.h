#pragma once
// The source of a configuration's text: a file, or Nacos.

#include <memory>
#include <optional>
#include <string>

#include <easyretry/options.h>

#include "base/part.h"

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
  // Whether people can write it who cannot write files of this machine.
  virtual bool remote() const { return false; }
};

// A path, or nacos://user:password@host:8848/data-id, for which it waits up to 3 s. Throws std::invalid_argument if the
// url is invalid, or if this program was built without Nacos.
std::shared_ptr<Source> open_source(const std::string& where, LogSink log);

struct NacosPart {
  std::shared_ptr<Source> (*open)(const std::string& url, LogSink log);
};

extern "C" EASYRETRY_OPTIONAL const NacosPart* easyretry_nacos_config();

}  // namespace easyretry::config
