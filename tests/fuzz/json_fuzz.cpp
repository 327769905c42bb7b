// A text is JSON with one canonical form, or a JsonError.

#include <easyretry/json_text.h>

#include "base/json_copy.h"
#include "fuzz/fuzz.h"

using namespace easyretry;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string canonical;
  try {
    canonical = base::canonical_json(JsonDocument::parse(fuzz::text_of(data, size)).root());
  } catch (const JsonError&) {
    return 0;
  }
  fuzz::must(base::canonical_json(JsonDocument::parse(canonical).root()) == canonical,
             "what was written is read back as the same");
  return 0;
}
