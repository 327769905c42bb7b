// A text is JSON with one canonical form, or a JsonError.

#include <easyretry/detail/json_text.h>

#include "base/json_copy.h"
#include "fuzz/pace.h"

using namespace easyretry;

namespace {

void read_and_write(std::string_view text) {
  std::string canonical;
  try {
    canonical = base::canonical_json(JsonDocument::parse(text).root());
  } catch (const JsonError&) {
    return;
  }
  fuzz::must(base::canonical_json(JsonDocument::parse(canonical).root()) == canonical,
             "what was written is read back as the same");
}

std::string plain(std::size_t size) {
  return fuzz::repeated("[0", R"(,{"a":[1,2.5],"b":"text"})", "]", size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run_at_pace(fuzz::text_of(data, size), read_and_write, plain);
  return 0;
}
