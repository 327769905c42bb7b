#include "config/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include <arpa/inet.h>

#include "base/duration_text.h"
#include "base/nearest.h"
#include "base/time_text.h"
#include "config/masked_url.h"
#include "config/node.h"
#include "policy/decide.h"
#include "policy/success_expression.h"

namespace easyretry::config {
namespace {

[[noreturn]] void refuse(std::string_view what, std::string_view form) {
  throw std::invalid_argument(std::string{what} + "; write " + std::string{form});
}

[[noreturn]] void refuse_kind(const Node& node, std::string_view form) {
  if (node.kind == Node::Kind::nothing) refuse("no value", std::string{form} + ", or delete the line");
  refuse("found " + std::string{kind_text(node)}, form);
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool can_be_a_name(std::string_view text) {
  const auto odd = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  return !text.empty() && text.size() <= 1000 && std::none_of(text.begin(), text.end(), odd);
}

// IPv6 in brackets. Names are not looked up: they may change, and a typing mistake would listen elsewhere.
bool is_address(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> unused{};
  if (!text.starts_with('[')) return ::inet_pton(AF_INET, text.c_str(), unused.data()) == 1;
  return text.ends_with(']') && ::inet_pton(AF_INET6, text.substr(1, text.size() - 2).c_str(), unused.data()) == 1;
}

template <class Value>
struct Named {
  Value value;
  std::string_view name;
};
constexpr Named<Persist> kPersistNames[] = {{Persist::retry_only, "retry_only"},
                                            {Persist::on_failure, "on_failure"},
                                            {Persist::always, "always"},
                                            {Persist::manual, "manual"},
                                            {Persist::never, "never"}};
constexpr Named<Assignment> kAssignmentNames[] = {{Assignment::stride, "stride"}, {Assignment::even, "even"}};
constexpr Named<ChannelType> kChannelTypeNames[] = {
    {ChannelType::webhook, "webhook"}, {ChannelType::slack, "slack"}, {ChannelType::dingtalk, "dingtalk"},
    {ChannelType::feishu, "feishu"},   {ChannelType::wecom, "wecom"}, {ChannelType::email, "email"}};
constexpr Named<AtStart> kAtStartNames[] = {{AtStart::alone, "alone"}, {AtStart::wait, "wait"}};
constexpr Named<TaskClass> kClassNames[] = {
    {TaskClass::urgent, "urgent"}, {TaskClass::normal, "normal"}, {TaskClass::background, "background"}};
constexpr Named<LogLevel> kLogLevelNames[] = {
    {LogLevel::debug, "debug"}, {LogLevel::info, "info"}, {LogLevel::warning, "warning"}, {LogLevel::error, "error"}};
constexpr Named<LogFormat> kLogFormatNames[] = {{LogFormat::text, "text"}, {LogFormat::json, "json"}};

template <class Value, std::size_t N>
Value read_one_of(const Named<Value> (&known)[N], const Node& node) {
  std::string form = "one of";
  std::vector<std::string_view> names;
  for (const auto& [value, name] : known) {
    form.append(names.empty() ? " " : ", ").append(name);
    names.push_back(name);
  }
  const std::string& text = read_word(node, form);
  for (const auto& [value, name] : known) {
    if (name == text) return value;
  }
  const auto meant = base::nearest(text, names);
  refuse(in_quotes(text) + " is unknown" + (meant ? ", did you mean " + std::string{*meant} + "?" : ""), form);
}

template <class Value, std::size_t N>
std::string_view name_of(const Named<Value> (&known)[N], Value value) {
  const auto* const found =
      std::find_if(std::begin(known), std::end(known), [&](const auto& one) { return one.value == value; });
  return found == std::end(known) ? "" : found->name;
}

constexpr std::string_view kBackoffForm =
    "a line such as exponential first=1s cap=15m, or {kind: exponential, first: 1s}";

// A space would begin another field in the line that is built from these.
const std::string& field_word(const Node& node) {
  const std::string& text = read_word(node, kBackoffForm);
  if (text.empty() || text.find_first_of(" ,=") != std::string::npos)
    refuse(in_quotes(text) + " is not a field's value", kBackoffForm);
  return text;
}

std::string field_text(const Node& value) {
  if (value.kind != Node::Kind::list) return field_word(value);
  std::string text;
  for (const Node& item : value.items) text.append(text.empty() ? "" : ",").append(field_word(item));
  return text;
}

// The same backoff as a line, so that there is only one parser and one set of rules.
std::string line_of(const Node& map) {
  std::string kind;
  std::string fields;
  for (std::size_t i = 0; i < map.keys.size(); ++i) {
    const std::string& name = field_word(map.keys[i]);
    if (name == "kind") {
      if (!kind.empty()) refuse("kind is given twice", kBackoffForm);
      kind = field_word(map.items[i]);
    } else {
      fields += " " + name + "=" + field_text(map.items[i]);
    }
  }
  if (kind.empty()) refuse("kind is missing", kBackoffForm);
  return kind + fields;
}

}  // namespace

const std::string& read_word(const Node& node, std::string_view form) {
  if (node.kind != Node::Kind::word) refuse_kind(node, form);
  return node.text;
}

std::int64_t read_number(const Node& node, NumberRange range) {
  const std::string form = "a whole number from " + std::to_string(range.least) + " to " + std::to_string(range.most);
  const std::string& text = read_word(node, form);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    refuse(in_quotes(text) + " is not a whole number", form);
  }
  const bool fits = error == std::errc{};
  if (!fits || number < range.least || number > range.most) {
    const bool small = fits ? number < range.least : text.starts_with('-');
    refuse(text.substr(0, 40) + (small ? " is too small" : " is too large"), form);
  }
  return number;
}

Millis read_duration(const Node& node, DurationRange range) {
  const std::string form =
      "a duration from " + base::to_text(range.least) + " to " + base::to_text(range.most) + ", such as 30s";
  const std::string& text = read_word(node, form);
  if (is_number(text) && text.size() < 10) refuse(text + " has no unit", text + "s for seconds");
  const Millis duration = base::parse_duration(text);
  if (duration < range.least) refuse(text + " is too short", form);
  if (duration > range.most) refuse(text + " is too long", form);
  return duration;
}

Millis read_retention(const Node& node) {
  constexpr DurationRange kRange{std::chrono::seconds{1}, std::chrono::days{3650}};
  const std::string form = "none, or a duration from 1s to 3650d, such as 7d";
  const std::string& text = read_word(node, form);
  if (text == "none") return Millis{0};
  if (is_number(text)) refuse(text + " has no unit", text == "0" ? "none to keep nothing" : text + "d for days");
  if (!text.empty() && text.find_first_not_of("0123456789") == 0) refuse(in_quotes(text) + " is not a duration", form);
  const Millis keep = base::parse_duration(text);
  if (keep < kRange.least) refuse(text + " is too short", form);
  if (keep > kRange.most) refuse(text + " is too long", form);
  return keep;
}

TimePoint read_time(const Node& node) {
  return base::parse_time(read_word(node, "a time in UTC, such as 2026-03-01T12:00:00Z"));
}

Persist read_persist(const Node& node) {
  return read_one_of(kPersistNames, node);
}

Assignment read_assignment(const Node& node) {
  return read_one_of(kAssignmentNames, node);
}

TaskClass read_class(const Node& node) {
  return read_one_of(kClassNames, node);
}

AtStart read_at_start(const Node& node) {
  return read_one_of(kAtStartNames, node);
}

ChannelType read_channel_type(const Node& node) {
  return read_one_of(kChannelTypeNames, node);
}

LogLevel read_log_level(const Node& node) {
  return read_one_of(kLogLevelNames, node);
}

LogFormat read_log_format(const Node& node) {
  return read_one_of(kLogFormatNames, node);
}

std::string read_membership(const Node& node) {
  return read_word(node, "store, alone, a place such as static:2/8, or nacos://host:8848/service");
}

std::string read_store(const Node& node) {
  const std::string& text = read_word(node, "the url of a store, such as sqlite:retry.db");
  if (const auto colon = text.find(':'); colon == 0 || colon == std::string::npos) {
    refuse(in_quotes(text) + " has no scheme", "a url such as sqlite:retry.db, or memory: for tests");
  }
  return text;
}

std::string read_namespace(const Node& node) {
  constexpr std::string_view kForm = "a name of 1 to 64 characters, such as payments";
  const std::string& text = read_word(node, kForm);
  if (text.empty() || text.size() > 64) refuse(in_quotes(text) + (text.empty() ? " is empty" : " is too long"), kForm);
  return text;
}

std::string read_success_when(const Node& node) {
  const std::string& text =
      read_word(node, "a Lua expression, such as result.code == 200, or \"\" if any result is a success");
  if (!text.empty()) policy::SuccessExpression{text};
  return text;
}

std::vector<WrittenName> read_names(const Node& node) {
  constexpr std::string_view kForm = "a list of exception types, such as [std::invalid_argument], or [] for none";
  if (node.kind != Node::Kind::list) refuse_kind(node, kForm);
  std::vector<WrittenName> names;
  for (const Node& item : node.items) {
    if (!can_be_a_name(read_word(item, kForm))) refuse(in_quotes(item.text) + " is not the name of a type", kForm);
    names.push_back({item.text, to_text(item.place)});
  }
  return names;
}

std::vector<std::string> read_words(const Node& node) {
  constexpr std::string_view kForm = "a list of names, such as [retry.example.com], or [] for none";
  if (node.kind != Node::Kind::list) refuse_kind(node, kForm);
  std::vector<std::string> words;
  for (const Node& item : node.items) {
    const std::string& word = read_word(item, kForm);
    if (word.empty() || word.find_first_of(" \t\r\n") != std::string::npos) {
      refuse(in_quotes(word) + " is not a name", kForm);
    }
    words.push_back(word);
  }
  return words;
}

std::string read_path(const Node& node) {
  constexpr std::string_view kForm = "the path of a file";
  const std::string& path = read_word(node, kForm);
  if (path.find('\0') != std::string::npos) refuse(in_quotes(path) + " has a NUL", kForm);
  return path;
}

std::string read_key_id(const Node& node) {
  return read_word(node, "the id of a key, such as 2026-11 for the file 2026-11.key");
}

bool read_flag(const Node& node) {
  constexpr std::string_view kForm = "true or false";
  const std::string& text = read_word(node, kForm);
  if (text == "true" || text == "on") return true;
  if (text != "false" && text != "off") refuse(in_quotes(text), kForm);
  return false;
}

std::string read_url(const Node& node) {
  constexpr std::string_view kForm = "the url of a handler, such as https://shop.example/hooks/pay";
  const std::string& url = read_word(node, kForm);
  if (!url.starts_with("http://") && !url.starts_with("https://")) refuse(in_quotes(masked_webhook_url(url)), kForm);
  return url;
}

std::string read_listen(const Node& node) {
  constexpr std::string_view kForm = "an address and a port, such as 127.0.0.1:7077 or [::1]:7077";
  const std::string& text = read_word(node, kForm);
  const auto colon = text.rfind(':');
  const bool has_port = colon != std::string::npos && colon > 0 && colon + 1 < text.size() &&
                        text.size() - colon <= 6 &&
                        text.find_first_not_of("0123456789", colon + 1) == std::string::npos &&
                        std::stoi(text.substr(colon + 1)) <= 65'535;
  if (!has_port) refuse(in_quotes(text), kForm);
  const std::string address = text.substr(0, colon);
  if (!is_address(address)) refuse(in_quotes(address) + " is not an address to listen on", kForm);
  return text;
}

std::string retention_text(Millis keep) {
  return keep == Millis{0} ? "none" : base::to_text(keep);
}

std::string_view persist_text(Persist persist) {
  return name_of(kPersistNames, persist);
}

std::string_view assignment_text(Assignment assignment) {
  return name_of(kAssignmentNames, assignment);
}

std::string_view at_start_text(AtStart at_start) {
  return name_of(kAtStartNames, at_start);
}

std::string_view channel_type_text(ChannelType type) {
  return name_of(kChannelTypeNames, type);
}

std::string_view log_level_text(LogLevel level) {
  return name_of(kLogLevelNames, level);
}

std::string_view log_format_text(LogFormat format) {
  return name_of(kLogFormatNames, format);
}

Backoff read_backoff(const Node& node) {
  if (node.kind == Node::Kind::map) return policy::parse_backoff(line_of(node));
  return policy::parse_backoff(read_word(node, kBackoffForm));
}

}  // namespace easyretry::config
