#pragma once
// Notices when a configuration has changed, in its file or in Nacos (nacos://user:password@host:8848/data-id).
//
//   ConfigWatch watch{"easyretry.yaml"};
//   Engine engine{watch.current().store_url(), watch.current().engine};
//   …
//   if (const auto news = watch.step()) {            // about once a second
//     if (*news) for (const ConfigChange& change : compare(running, **news)) …
//     else log(news->error().what());                // the configuration before stays in force
//   }

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <tl/expected.hpp>

#include <easyretry/config.h>

namespace easyretry {

namespace config {
class Source;
}

// Compares what is in the file, not its time stamp: it is small, and a second write within one tick of the file
// system's clock changes no stamp. New content counts when two steps in a row have seen it, so a file that is still
// being written is not taken for a finished one. Nothing here is a thread; one at a time may use it.
class ConfigWatch {
 public:
  // Throws ConfigError: an engine is not started with a configuration that is wrong. Nacos, which may be away, is
  // waited for up to 3 s; `log` is told of troubles with it.
  explicit ConfigWatch(const std::filesystem::path& file, Environment environment = easyretry_environment(),
                       LogSink log = stderr_log());

  // The last configuration that was right; before Nacos has been reached, the defaults and the environment.
  const Config& current() const { return current_; }
  // Why Nacos has not been reached yet; nothing, once it has.
  std::optional<std::string> waits_for() const;

  // The new configuration, or what is wrong with it, once for each new content; nothing while there is no news. A
  // file that has gone is news when two steps in a row miss it: some editors delete before they write.
  std::optional<tl::expected<Config, ConfigError>> step();

 private:
  using Content = std::optional<std::string>;  // nothing where the file cannot be read
  tl::expected<Config, ConfigError> judge(const Content& content) const;

  std::shared_ptr<config::Source> source_;
  Environment environment_;
  Content judged_;  // what current_, or the last error, was made of
  Content seen_;    // by the last step
  Config current_;
};

}  // namespace easyretry
