#pragma once
// How robots of chat rooms know us. Both products have HMAC-SHA256 of a time and the secret, each in its own way. Pure.

#include <string>
#include <string_view>

#include <easyretry/time.h>

namespace easyretry::alert {

// "&timestamp=1577262236757&sign=…": milliseconds; the secret is the key, "time\nsecret" what is signed.
std::string dingtalk_query(std::string_view secret, TimePoint now);

struct FeishuSignature {
  std::string timestamp;  // seconds
  std::string sign;       // "time\nsecret" is the key, and nothing is signed
};
FeishuSignature feishu_signature(std::string_view secret, TimePoint now);

}  // namespace easyretry::alert
