// The answer of a webhook receiver: one line with the status, one with Retry-After, and then the body.

#include <charconv>

#include "base/utf8.h"
#include "fuzz/pace.h"
#include "policy/success_expression.h"
#include "server/webhook_handler.h"
#include "webhook/call.h"

using namespace easyretry;

namespace {

const policy::SuccessExpression kSuccess{"result.code == 200"};

int number_of(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void judge(std::string_view text) {
  webhook::Answer answer;
  answer.status = number_of(fuzz::take_line(text));
  answer.retry_after = webhook::parse_retry_after(fuzz::take_line(text), TimePoint{Millis{1'772'000'000'000}});
  answer.body = text;
  if (answer.retry_after) {
    fuzz::must(*answer.retry_after >= Millis{0} && *answer.retry_after <= webhook::kLongestRetryAfter,
               "a wait is from nothing to a day");
  }
  const detail::Reply reply = server::judged_by_status(answer);
  if (reply.answer) {
    fuzz::must(base::invalid_utf8(reply.answer->why) == std::string::npos, "what is stored of an answer is UTF-8");
  } else if (reply.unwritable.empty()) {
    static_cast<void>(kSuccess.evaluate(reply.result, "[]"));
  }
}

std::string plain(std::size_t size) {
  return fuzz::repeated("200\n10\n{\"code\": 200", R"(, "k#": "text")", "}", size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run_at_pace(fuzz::text_of(data, size), judge, plain);
  return 0;
}
