#pragma once
// A message as each product takes it: JSON to be posted. Kinds of messages are used in which text is text: a task whose
// key is "*bold*", "<!channel>" or "<at user_id=…>" neither formats anything nor calls anybody. Pure.

#include <optional>
#include <string>

#include <easyretry/time.h>

#include "alert/message.h"
#include "alert/robot_signature.h"

namespace easyretry::alert {

// {"type":"easyretry.alert","timestamp":"2026-03-01T12:00:00.000Z","data":{…}}, as Standard Webhooks would have it.
std::string webhook_body(const Message& message, TimePoint now);
std::string slack_body(const Message& message);
std::string dingtalk_body(const Message& message);
std::string feishu_body(const Message& message, const std::optional<FeishuSignature>& signature);
std::string wecom_body(const Message& message);

}  // namespace easyretry::alert
