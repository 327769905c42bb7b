#pragma once
// The differences between the products that alerts are posted to: bodies, signatures and answers. Messages use formats
// in which text is literal: a task whose key is "*bold*", "<!channel>" or "<at user_id=…>" neither formats anything nor
// notifies anyone. Pure.

#include <optional>
#include <string>
#include <string_view>

#include <easyretry/config.h>
#include <easyretry/time.h>

#include "alert/message.h"
#include "webhook/call.h"

namespace easyretry::alert {

// DingTalk and Feishu robots sign with HMAC-SHA256 of a time and the secret, each in its own way.

// "&timestamp=1577262236757&sign=…": milliseconds; the key is the secret, the signed text is "time\nsecret".
std::string dingtalk_query(std::string_view secret, TimePoint now);

struct FeishuSignature {
  std::string timestamp;  // seconds
  std::string sign;       // the key is "time\nsecret", the signed text is empty
};
FeishuSignature feishu_signature(std::string_view secret, TimePoint now);

// {"type":"easyretry.alert","timestamp":"2026-03-01T12:00:00.000Z","data":{…}}, as in Standard Webhooks.
std::string webhook_body(const Message& message, TimePoint now);
std::string slack_body(const Message& message);
std::string dingtalk_body(const Message& message);
std::string feishu_body(const Message& message, const std::optional<FeishuSignature>& signature);
std::string wecom_body(const Message& message);

// Interprets an answer. DingTalk, Feishu and WeCom answer with status 200 even if they refuse, and say so in the body.
// `why` may contain secrets.
SendResult judge_answer(ChannelType type, const webhook::CallResult& heard);

}  // namespace easyretry::alert
