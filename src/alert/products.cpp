#include "alert/products.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <easyretry/detail/json_text.h>

#include "base/time_text.h"
#include "base/utf8.h"
#include "seal/base64.h"

namespace easyretry::alert {
namespace {

constexpr std::size_t kLongestWecomText = 2048;  // bytes, or the whole message is refused
constexpr double kMillisPerSecond = 1000;

void text(JsonWriter& json, std::string_view key, std::string_view value) {
  json.key(key);
  json.string(value);
}

void number(JsonWriter& json, std::string_view key, std::uint64_t value) {
  json.key(key);
  json.unsigned_integer(value);
}

void seconds(JsonWriter& json, std::string_view key, Millis value) {
  json.key(key);
  json.number(static_cast<double>(value.count()) / kMillisPerSecond);
}

std::string replaced(std::string_view text, std::initializer_list<std::pair<char, std::string_view>> by) {
  std::string out;
  for (const char c : text) {
    std::string_view instead{&c, 1};
    for (const auto& [sign, replacement] : by) {
      if (sign == c) instead = replacement;
    }
    out += instead;
  }
  return out;
}

void write_tasks(JsonWriter& json, const Message& message) {
  json.key("tasks");
  json.begin_array();
  for (const auto& [id, key, error] : message.samples) {
    json.begin_object();
    text(json, "id", id);
    text(json, "key", key);
    text(json, "error", error);
    json.end_object();
  }
  json.end_array();
}

void write_numbers(JsonWriter& json, const Message& message) {
  if (message.kind == Kind::backlog_age || message.kind == Kind::circuit_open) {
    seconds(json, "age_seconds", message.age);
    seconds(json, "limit_seconds", message.age_limit);
    return;
  }
  number(json, "count", message.count);
  seconds(json, "within_seconds", message.within);
  if (message.kind != Kind::failure_rate) return;
  number(json, "attempts", message.attempts);
  number(json, "limit_percent", static_cast<std::uint64_t>(message.rate_limit));
}

void write_data(JsonWriter& json, const Message& message) {
  json.begin_object();
  text(json, "summary", headline(message));
  if (!message.test) {
    text(json, "kind", name_of(message.kind));
    text(json, "status", message.resolved ? "resolved" : "firing");
    text(json, "namespace", message.name_space);
    text(json, "handler", message.handler);
    text(json, "rule", message.rule);
    write_numbers(json, message);
    write_tasks(json, message);
  }
  json.end_object();
}

// {"msgtype":"text","text":{"content":"…"}}: the same for DingTalk and WeCom.
std::string text_message(std::string_view content) {
  JsonWriter json;
  json.begin_object();
  text(json, "msgtype", "text");
  json.key("text");
  json.begin_object();
  text(json, "content", content);
  json.end_object();
  json.end_object();
  return json.take();
}

constexpr std::size_t kDigestBytes = 32;

std::string signed_base64(std::string_view key, std::string_view text) {
  std::string digest(kDigestBytes, '\0');
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<const unsigned char*>(text.data()),
           text.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr) == nullptr) {
    throw std::runtime_error("OpenSSL cannot compute an HMAC-SHA256");
  }
  return seal::base64_encode(digest);
}

// Percent-encodes base64: only these characters of it have a meaning in a query.
std::string in_query(std::string_view base64) {
  std::string text;
  for (const char c : base64) {
    switch (c) {
      case '+': text += "%2B"; break;
      case '/': text += "%2F"; break;
      case '=': text += "%3D"; break;
      default: text += c;
    }
  }
  return text;
}

constexpr int kTooManyRequests = 429;
constexpr int kServerErrors = 500;
// Codes worth retrying: "too fast" of DingTalk, Feishu and WeCom, and "busy" of DingTalk and WeCom.
constexpr std::array<std::int64_t, 5> kWorthRetrying{130101, 11232, 45009, -1, 410100};

SendResult refused(const webhook::Answer& answer, bool worth_retrying) {
  std::string why = "HTTP " + std::to_string(answer.status);
  if (!answer.body.empty()) why += ": " + one_line(answer.body, kLongestError);
  return {.worth_retrying = worth_retrying, .retry_after = answer.retry_after, .why = std::move(why)};
}

// The code in a robot's answer; nullopt if there is none.
std::optional<std::int64_t> code_in(const std::string& body, std::initializer_list<std::string_view> keys) {
  try {
    const JsonDocument document = JsonDocument::parse(body);
    for (const std::string_view key : keys) {
      if (const auto code = document.root().find(key)) return code->as_int();
    }
  } catch (const JsonError&) {  // not the answer of a robot
  }
  return std::nullopt;
}

SendResult judge_by_code(const webhook::Answer& answer, std::optional<std::int64_t> code) {
  if (code == 0) return {.arrived = true};
  return refused(answer, code && std::ranges::find(kWorthRetrying, *code) != kWorthRetrying.end());
}

}  // namespace

std::string webhook_body(const Message& message, TimePoint now) {
  JsonWriter json;
  json.begin_object();
  text(json, "type", message.test ? "easyretry.alert.test" : "easyretry.alert");
  text(json, "timestamp", base::to_text(now));
  json.key("data");
  write_data(json, message);
  json.end_object();
  return json.take();
}

// Without mrkdwn, nothing is bold or quoted; <…> would still be a link or a mention.
std::string slack_body(const Message& message) {
  JsonWriter json;
  json.begin_object();
  text(json, "text", replaced(full_text(message), {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}}));
  json.key("mrkdwn");
  json.boolean(false);
  json.end_object();
  return json.take();
}

std::string dingtalk_body(const Message& message) {
  return text_message(full_text(message));
}

// A post, because its texts are literal: in a message of type "text", <at user_id="all"> would notify everyone.
std::string feishu_body(const Message& message, const std::optional<FeishuSignature>& signature) {
  JsonWriter json;
  json.begin_object();
  if (signature) {
    text(json, "timestamp", signature->timestamp);
    text(json, "sign", signature->sign);
  }
  text(json, "msg_type", "post");
  for (const char* level : {"content", "post", "en_us"}) {
    json.key(level);
    json.begin_object();
  }
  text(json, "title", headline(message));
  json.key("content");
  json.begin_array();
  for (const std::string& line : details(message)) {
    json.begin_array();
    json.begin_object();
    text(json, "tag", "text");
    text(json, "text", line);
    json.end_object();
    json.end_array();
  }
  json.end_array();
  for (int level = 0; level < 4; ++level) json.end_object();
  return json.take();
}

// WeCom has no escapes, and <@name> would notify someone: full-width brackets look similar and have no meaning.
std::string wecom_body(const Message& message) {
  const std::string plain = replaced(full_text(message), {{'<', "\xef\xbc\x9c"}, {'>', "\xef\xbc\x9e"}});
  return text_message(base::cut_utf8(plain, kLongestWecomText));
}

std::string dingtalk_query(std::string_view secret, TimePoint now) {
  const std::string time = std::to_string(now.time_since_epoch().count());
  return "&timestamp=" + time + "&sign=" + in_query(signed_base64(secret, time + "\n" + std::string{secret}));
}

FeishuSignature feishu_signature(std::string_view secret, TimePoint now) {
  const std::string time = std::to_string(std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count());
  return {time, signed_base64(time + "\n" + std::string{secret}, "")};
}

SendResult judge_answer(ChannelType type, const webhook::CallResult& heard) {
  if (!heard) return {.worth_retrying = heard.error().code != Errc::invalid_argument, .why = heard.error().detail};
  const webhook::Answer& answer = *heard;
  if (!answer.succeeded()) {
    return refused(answer, answer.status >= kServerErrors || answer.status == kTooManyRequests);
  }
  switch (type) {
    case ChannelType::dingtalk:
    case ChannelType::wecom: return judge_by_code(answer, code_in(answer.body, {"errcode"}));
    case ChannelType::feishu: return judge_by_code(answer, code_in(answer.body, {"code", "StatusCode"}));
    default: return {.arrived = true};
  }
}

}  // namespace easyretry::alert
