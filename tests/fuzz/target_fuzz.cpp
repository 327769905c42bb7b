// The first line of a request, and the query of a list in it: filters, cursors, times.

#include "fuzz/pace.h"
#include "http/target.h"
#include "server/refusal.h"
#include "server/request_fields.h"

using namespace easyretry;

namespace {

template <class Ask>
void ask_or_be_refused(Ask ask) {
  try {
    ask();
  } catch (const server::Refusal& refusal) {
    fuzz::must(refusal.problem().status < 500, "a refusal says that the request is wrong");
    http::to_response(refusal.problem(), "id");
  }
}

void ask_for(std::string_view text) {
  http::Request request;
  const auto target = http::parse_target(text);
  if (!target) return;
  request.target = *target;
  for (const std::string& segment : target->segments) {
    fuzz::must(segment != ".." && segment.find('\0') == std::string::npos, "nobody leaves the path");
    ask_or_be_refused([&] { server::parse_id(segment); });
  }
  ask_or_be_refused([&] { server::task_query(request.target.query, false); });
  ask_or_be_refused([&] { server::task_query(request.target.query, true); });
}

std::string plain(std::size_t size) {
  return fuzz::repeated("/v1/tasks?", "key#=value%20with%20spaces&", "limit=10", size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run_at_pace(fuzz::text_of(data, size), ask_for, plain);
  return 0;
}
