#pragma once
// What became of a message, and what an answer means. Pure.

#include <optional>
#include <string>

#include <easyretry/alerts.h>
#include <easyretry/time.h>

#include "webhook/call.h"

namespace easyretry::alert {

struct Told {
  bool arrived = false;
  bool worth_retrying = false;  // where it did not
  std::optional<Millis> retry_after{};
  std::string why{};  // where it did not; may hold secrets
};

// DingTalk, Feishu and WeCom answer 200 and say in the body that they refuse.
Told judged(ChannelType type, const webhook::CallResult& heard);

}  // namespace easyretry::alert
