// A text is a configuration that can be written and read again, or a ConfigError with a message.

#include <easyretry/config.h>

#include "fuzz/pace.h"

using namespace easyretry;

namespace {

void read_and_write(std::string_view text) {
  std::string written;
  try {
    written = to_yaml(parse_config(text));
  } catch (const ConfigError& e) {
    fuzz::must(!e.problems().empty(), "what is wrong is said");
    return;
  }
  fuzz::must(to_yaml(parse_config(written)) == written, "what was written is read back as the same");
}

std::string plain(std::size_t size) {
  return fuzz::repeated("handlers:\n", "  h#: {max_attempts: 3, backoff: fixed delay=1s}\n", "", size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run_at_pace(fuzz::text_of(data, size), read_and_write, plain);
  return 0;
}
