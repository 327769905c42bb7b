#include "server/webhook_answer.h"

#include <easyretry/json_text.h>

#include "base/utf8.h"

namespace easyretry::server {
namespace {

constexpr std::size_t kQuoted = 200;  // bytes of an answer that are told with a failure
constexpr int kGone = 410;

std::string spoken(const webhook::Answer& answer) {
  std::string text = "HTTP " + std::to_string(answer.status);
  if (answer.body.empty()) return text;
  if (base::invalid_utf8(answer.body) != std::string::npos) return text + ": (not UTF-8)";
  return text + ": " + std::string{base::cut_utf8(answer.body, kQuoted)};
}

// What success_when looks at.
detail::Reply reply_of(const webhook::Answer& answer) {
  if (answer.body.empty()) return {.result = "null"};
  try {
    static_cast<void>(JsonDocument::parse(answer.body));
    return {.result = answer.body};
  } catch (const JsonError& e) {
    return {.unwritable = std::string{"the answer is "} + e.what()};
  }
}

}  // namespace

detail::Reply judged_by_status(const webhook::Answer& answer) {
  if (answer.succeeded()) return reply_of(answer);
  if (answer.status == kGone) return {.answer = give_up(spoken(answer))};
  if (answer.retry_after) return {.answer = retry_after(*answer.retry_after, spoken(answer))};
  return {.answer = retry_later(spoken(answer))};
}

}  // namespace easyretry::server
