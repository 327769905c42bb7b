// The input has three lines: a beginning, a piece and an end. A long text with the piece repeated is parsed, brought
// into its canonical form and hashed to a key. This must take about the time of an ordinary text of its size. So inputs
// of a few bytes find texts that are slow because of their length.

#include <easyretry/detail/json_text.h>

#include "base/json_copy.h"
#include "fuzz/pace.h"
#include "task/task_key.h"

using namespace easyretry;

namespace {

constexpr std::size_t kSize = 65'536;

void make_key(std::string_view text) {
  try {
    task::derive_key("mail", base::canonical_json(JsonDocument::parse(text).root()));
  } catch (const JsonError&) {
  }
}

std::string ordinary(std::size_t size) {
  return fuzz::repeated("[0", R"(, {"id": #, "customer": "alice@example.com", "amount": 99.5, "items": ["pen"]})", "]",
                        size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  const std::string_view begin = fuzz::take_line(text);
  const std::string_view piece = fuzz::take_line(text);
  if (piece.empty()) return 0;
  fuzz::run_at_pace(fuzz::repeated(begin, piece, text, kSize), make_key, ordinary);
  return 0;
}
