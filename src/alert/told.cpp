#include "alert/told.h"

#include <algorithm>
#include <array>

#include <easyretry/json_text.h>

#include "alert/words.h"

namespace easyretry::alert {
namespace {

constexpr int kTooManyRequests = 429;
constexpr int kServerErrors = 500;
// "Too fast": DingTalk's, Feishu's and WeCom's; and "busy" of DingTalk and WeCom.
constexpr std::array<std::int64_t, 5> kLater{130101, 11232, 45009, -1, 410100};

Told refused(const webhook::Answer& answer, bool worth_retrying) {
  std::string why = "HTTP " + std::to_string(answer.status);
  if (!answer.body.empty()) why += ": " + one_line(answer.body, kLongestError);
  return {.worth_retrying = worth_retrying, .retry_after = answer.retry_after, .why = std::move(why)};
}

// The robot's own number; nothing where its answer has none.
std::optional<std::int64_t> code_in(const std::string& body, std::initializer_list<std::string_view> keys) {
  try {
    const JsonDocument document = JsonDocument::parse(body);
    for (const std::string_view key : keys) {
      if (const auto code = document.root().find(key)) return code->as_int();
    }
  } catch (const JsonError&) {  // is no answer of a robot
  }
  return std::nullopt;
}

Told judged_by_code(const webhook::Answer& answer, std::optional<std::int64_t> code) {
  if (code == 0) return {.arrived = true};
  return refused(answer, code && std::ranges::find(kLater, *code) != kLater.end());
}

}  // namespace

Told judged(ChannelType type, const webhook::CallResult& heard) {
  if (!heard) return {.worth_retrying = heard.error().code != Errc::invalid_argument, .why = heard.error().detail};
  const webhook::Answer& answer = *heard;
  if (!answer.succeeded()) {
    return refused(answer, answer.status >= kServerErrors || answer.status == kTooManyRequests);
  }
  switch (type) {
    case ChannelType::dingtalk:
    case ChannelType::wecom: return judged_by_code(answer, code_in(answer.body, {"errcode"}));
    case ChannelType::feishu: return judged_by_code(answer, code_in(answer.body, {"code", "StatusCode"}));
    default: return {.arrived = true};
  }
}

}  // namespace easyretry::alert
