#pragma once
// Detects changes of a configuration, in its file or in Nacos (nacos://user:password@host:8848/data-id). Engine::follow
// is made of it.
//
//   ConfigWatch watch{"easyretry.yaml"};
//   Engine engine{watch.current().store_url(), watch.current().engine};
//   …
//   if (const auto news = watch.step()) {            // about once a second
//     if (*news) for (const ConfigChange& change : compare(running, **news)) …
//     else log(news->error().what());                // the previous configuration stays in force
//   }

#include <memory>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include <easyretry/config.h>

namespace easyretry {

namespace config {
class Source;
}

// Compares the content of the file, not its timestamp: the file is small, and a second write within one tick of the
// file system's clock does not change the timestamp. New content counts once two consecutive steps have seen it, so a
// file that is still being written is not mistaken for a finished one. Starts no thread. Not thread-safe.
class ConfigWatch {
 public:
  // Throws ConfigError if the configuration is wrong, so that no engine starts with it. Waits up to 3 s for Nacos,
  // which may be unreachable; problems with it go to `log`.
  explicit ConfigWatch(const std::string& file, Environment environment = easyretry_environment(),
                       LogSink log = stderr_log());

  // The last valid configuration; until Nacos has been reached, the defaults and the environment.
  const Config& current() const { return current_; }
  // Why Nacos has not been reached yet; nullopt once it has.
  std::optional<std::string> waits_for() const;

  // The new configuration or its errors, once for each new content; nullopt if nothing has changed. A missing file is
  // reported once two consecutive steps miss it: some editors delete a file before they write it.
  std::optional<tl::expected<Config, ConfigError>> step();

 private:
  using Content = std::optional<std::string>;  // nullopt if the file cannot be read
  tl::expected<Config, ConfigError> judge(const Content& content) const;

  std::shared_ptr<config::Source> source_;
  Environment environment_;
  Content judged_;  // the source of current_ or of the last error
  Content seen_;    // in the last step
  Config current_;
};

}  // namespace easyretry
