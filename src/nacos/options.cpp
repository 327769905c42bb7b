#include "nacos/options.h"

#include <filesystem>
#include <stdexcept>
#include <utility>

namespace easyretry::nacos {
namespace {

void require(bool condition, const std::string& otherwise) {
  if (!condition) throw std::invalid_argument("nacos: " + otherwise);
}

void require_file(const std::string& path, const char* name) {
  require(path.empty() || std::filesystem::is_regular_file(path), std::string{"tls."} + name + ": no file " + path);
}

void check(const TlsOptions& tls) {
  require_file(tls.ca_file, "ca_file");
  require_file(tls.certificate_file, "certificate_file");
  require_file(tls.key_file, "key_file");
  require(tls.certificate_file.empty() == tls.key_file.empty(),
          "tls.certificate_file and tls.key_file go together; give both or neither");
}

void check(const Timings& timings) {
  for (const auto& [name, value] : {std::pair{"request", timings.request},
                                    {"login", timings.login},
                                    {"setup", timings.setup},
                                    {"idle", timings.idle},
                                    {"redo", timings.redo},
                                    {"refresh", timings.refresh},
                                    {"relisten", timings.relisten},
                                    {"reconnect_step", timings.reconnect_step},
                                    {"reconnect_most", timings.reconnect_most},
                                    {"relogin", timings.relogin},
                                    {"fallback", timings.fallback},
                                    {"beat", timings.beat},
                                    {"poll", timings.poll}}) {
    require(value > Millis{0}, std::string{"timings."} + name + " must be more than 0");
  }
}

}  // namespace

void validate(const ClientOptions& options) {
  require(!options.servers.empty(), "no server; give at least one host:8848");
  require(!options.credentials || !options.credentials->username.empty(), "credentials without a username");
  require(options.log != nullptr, "log is empty; give stderr_log(), or a function that does nothing");
  if (options.tls) check(*options.tls);
  check(options.timings);
}

}  // namespace easyretry::nacos
