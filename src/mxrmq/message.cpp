#include "mxrmq/message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "base/utf8.h"
#include "mxrmq/raw_object.h"

namespace easyretry::mxrmq {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 6> kStatuses{"pending",  "processing",  "completed",
                                                    "retrying", "dead_letter", "stuck_timeout"};
constexpr std::array<std::string_view, 3> kPriorities{"low", "normal", "high"};

[[noreturn]] void refuse_field(std::string_view field, std::string_view why) {
  throw MessageError(std::string{field}.append(" ").append(why));
}

std::string json_text(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

void read(std::string_view field, const json& value, std::string& out) {
  if (!value.is_string()) refuse_field(field, "is not text");
  out = value.get<std::string>();
}

std::optional<std::int64_t> in_quotes(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

void read(std::string_view field, const json& value, std::int64_t& out) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (value.is_number_integer()) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) refuse_field(field, "is too large");
    out = value.get<std::int64_t>();
  } else if (value.is_number_float() && std::abs(value.get<double>()) < kExact &&
             value.get<double>() == std::trunc(value.get<double>())) {
    out = static_cast<std::int64_t>(value.get<double>());
  } else if (const auto number = value.is_string() ? in_quotes(value.get<std::string>()) : std::nullopt) {
    out = *number;
  } else {
    refuse_field(field, "is not an integer");
  }
}

void read(std::string_view field, const json& value, std::vector<std::int64_t>& out) {
  if (!value.is_array()) refuse_field(field, "is not a list");
  out.clear();
  for (const json& each : value) read(field, each, out.emplace_back());
}

template <class Enum, std::size_t n>
void read_word(std::string_view field, const json& value, const std::array<std::string_view, n>& words, Enum& out) {
  std::string word;
  read(field, value, word);
  const auto* found = std::ranges::find(words, word);
  if (found == words.end()) refuse_field(field, "is unknown");
  out = static_cast<Enum>(found - words.begin());
}

void read(std::string_view field, const json& value, Status& out) {
  read_word(field, value, kStatuses, out);
}
void read(std::string_view field, const json& value, Priority& out) {
  read_word(field, value, kPriorities, out);
}

template <class T>
void read(std::string_view field, const json& value, std::optional<T>& out) {
  if (value.is_null()) return;
  read(field, value, out.emplace());
}

std::string text_of(std::int64_t value) {
  return std::to_string(value);
}
std::string text_of(const std::string& value) {
  return json_text(value);
}
std::string text_of(const std::vector<std::int64_t>& value) {
  return json(value).dump();
}
std::string text_of(Status value) {
  return json_text(kStatuses[static_cast<std::size_t>(value)]);
}
std::string text_of(Priority value) {
  return json_text(kPriorities[static_cast<std::size_t>(value)]);
}

template <class SomeMeta, class Visit>
void each_field(SomeMeta& meta, Visit visit) {
  visit("status", meta.status);
  visit("delay", meta.delay);
  visit("retryCount", meta.retry_count);
  visit("maxRetries", meta.max_retries);
  visit("retryDelays", meta.retry_delays);
  visit("lastError", meta.last_error);
  visit("expireAt", meta.expire_at);
  visit("createdAt", meta.created_at);
  visit("updatedAt", meta.updated_at);
  visit("lastRetryAt", meta.last_retry_at);
  visit("processingStartedAt", meta.processing_started_at);
  visit("completedAt", meta.completed_at);
  visit("deadLetterAt", meta.dead_letter_at);
  visit("stuckDetectedAt", meta.stuck_detected_at);
  visit("stuckReason", meta.stuck_reason);
  visit("retriedFromDlqAt", meta.retried_from_dlq_at);
}

struct Field {
  std::string_view name;
  std::optional<std::string> text;  // nullopt: left out
};

std::vector<Field> fields_of(const Meta& meta) {
  std::vector<Field> fields;
  each_field(meta, [&]<class T>(std::string_view name, const T& value) {
    if constexpr (requires { value.has_value(); }) {
      fields.push_back({name, value ? std::optional{text_of(*value)} : std::nullopt});
    } else {
      fields.push_back({name, text_of(value)});
    }
  });
  return fields;
}

RawObject object(std::string_view field, std::string_view text) try {
  return RawObject{text};
} catch (const std::invalid_argument& why) {
  refuse_field(field, "is " + std::string{why.what()});
}

template <class T>
void read_if_there(const RawObject& from, std::string_view field, T& out) try {
  if (const auto text = from.find(field)) read(field, json::parse(*text), out);
} catch (const json::exception&) {
  refuse_field(field, "is out of range");
}

Meta parse_meta(std::string_view text) {
  const RawObject from = object("meta", text);
  Meta meta;
  each_field(meta, [&](std::string_view name, auto& value) { read_if_there(from, name, value); });
  if (meta.retry_count < 0) refuse_field("retryCount", "is negative");
  if (meta.max_retries < 0) refuse_field("maxRetries", "is negative");
  if (meta.expire_at < 0) refuse_field("expireAt", "is negative");
  return meta;
}

std::string stripped(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n\v\f";
  const auto begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return std::string{text.substr(begin, text.find_last_not_of(kBlank) - begin + 1)};
}

}  // namespace

Message parse_message(std::string_view text) {
  const RawObject from = object("message", text);
  Message message;
  read_if_there(from, "id", message.id);
  read_if_there(from, "version", message.version);
  read_if_there(from, "topic", message.topic);
  read_if_there(from, "priority", message.priority);
  read_if_there(from, "createdAt", message.created_at);
  message.topic = stripped(message.topic);
  if (message.topic.empty()) refuse_field("topic", "is missing");
  if (const auto meta = from.find("meta")) message.meta = parse_meta(*meta);
  const auto payload = from.find("payload");
  if (!payload) refuse_field("payload", "is missing");
  message.payload = object("payload", *payload).text();
  return message;
}

std::string to_json(const Message& message) {
  RawObject meta{"{}"};
  for (const Field& field : fields_of(message.meta)) {
    if (field.text) meta.set(field.name, *field.text);
  }
  RawObject whole{"{}"};
  whole.set("id", text_of(message.id));
  whole.set("version", text_of(message.version));
  whole.set("topic", text_of(message.topic));
  whole.set("priority", text_of(message.priority));
  whole.set("createdAt", text_of(message.created_at));
  whole.set("meta", meta.text());
  whole.set("payload", message.payload);
  return whole.text();
}

std::string rewritten(std::string_view text, const Meta& now) {
  RawObject whole{text};
  RawObject meta{whole.find("meta").value_or("{}")};
  const std::vector<Field> before = fields_of(parse_meta(meta.text()));
  const std::vector<Field> after = fields_of(now);
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (before[i].text == after[i].text) continue;
    if (after[i].text) {
      meta.set(after[i].name, *after[i].text);
    } else {
      meta.erase(after[i].name);
    }
  }
  whole.set("meta", meta.text());
  return whole.text();
}

std::string first_characters(std::string_view text, std::size_t most) {
  std::string whole = base::storable_utf8(text);
  const auto begins_character = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  std::size_t characters = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (begins_character(whole[at]) && ++characters > most) {
      whole.resize(at);
      break;
    }
  }
  return whole;
}

std::string parse_error_record(std::string_view id, std::string_view text, std::string_view topic, std::string_view why,
                               std::int64_t now) {
  nlohmann::ordered_json record;
  record["original_payload"] = base::storable_utf8(text);
  record["error_type"] = "parse_error";
  record["error_message"] = first_characters(why, kParseErrorCharacters);
  record["topic"] = base::storable_utf8(topic);
  record["timestamp"] = std::to_string(now);
  record["message_id"] = base::storable_utf8(id);
  return record.dump();
}

std::string new_id() {
  static base::Random random{base::random_seed()};
  const std::uint64_t high = (random.next() & ~0xf000ULL) | 0x4000;  // version 4
  const std::uint64_t low = (random.next() >> 2) | (1ULL << 63);     // RFC 4122
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff, low >> 48,
                     low & 0xffffffffffffULL);
}

}  // namespace easyretry::mxrmq
