// A text is a configuration that can be written down and read again, or a ConfigError with something to say.

#include <easyretry/config.h>

#include "fuzz/fuzz.h"

using namespace easyretry;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string written;
  try {
    written = to_yaml(parse_config(fuzz::text_of(data, size)));
  } catch (const ConfigError& e) {
    fuzz::must(!e.problems().empty(), "what is wrong is said");
    return 0;
  }
  fuzz::must(to_yaml(parse_config(written)) == written, "what was written is read back as the same");
  return 0;
}
