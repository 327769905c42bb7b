#include "alert/templates.h"

#include <easyretry/json_text.h>

#include "alert/words.h"
#include "base/time_text.h"
#include "base/utf8.h"

namespace easyretry::alert {
namespace {

constexpr std::size_t kLongestWecomText = 2048;  // bytes, or the whole message is refused
constexpr double kMillisASecond = 1000;

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
  json.number(static_cast<double>(value.count()) / kMillisASecond);
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
  if (message.kind == Kind::backlog_age) {
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
    text(json, "namespace", message.space);
    text(json, "handler", message.handler);
    text(json, "rule", message.rule);
    write_numbers(json, message);
    write_tasks(json, message);
  }
  json.end_object();
}

// {"msgtype":"text","text":{"content":"…"}}, which DingTalk and WeCom have in common.
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

// Without mrkdwn nothing is bold or quoted; <…> would still be a link or a mention.
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

// A post, whose texts are literal; in a message of type "text", <at user_id="all"> would call everybody.
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

// It knows no escapes, and <@name> may call somebody: brackets of full width look alike and mean nothing.
std::string wecom_body(const Message& message) {
  const std::string plain = replaced(full_text(message), {{'<', "\xef\xbc\x9c"}, {'>', "\xef\xbc\x9e"}});
  return text_message(base::cut_utf8(plain, kLongestWecomText));
}

}  // namespace easyretry::alert
