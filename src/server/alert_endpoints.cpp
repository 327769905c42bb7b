// /v1/alerts: channels, rules and the latest messages; a message to test a channel.

#include "config/masked_url.h"
#include "config/values.h"
#include "server/answer_values.h"
#include "server/endpoints.h"
#include "server/refusal.h"
#include "server/request_fields.h"

namespace easyretry::server {
namespace {

struct ChannelAnswer {
  std::string name;
  std::string_view type;
  std::string url;  // without secrets
  int per_minute = 0;
  std::uint64_t delivered = 0;
  std::uint64_t failed = 0;
};
EASYRETRY_JSON(ChannelAnswer, name, type, url, per_minute, delivered, failed)

// A threshold of 0 is left out.
struct RuleAnswer {
  std::string name;
  std::vector<std::string> handlers;
  std::vector<std::string> channels;
  std::optional<int> final_failures;
  std::optional<int> quarantines;
  std::optional<Millis> backlog_age_ms;
  std::optional<Millis> circuit_open_ms;
  std::optional<int> failure_rate;
};
EASYRETRY_JSON(RuleAnswer, name, handlers, channels, final_failures, quarantines, backlog_age_ms, circuit_open_ms,
               failure_rate)

struct SentAnswer {
  ShownTime at;
  std::string channel;
  std::string_view status;
  std::optional<std::string_view> kind{};
  std::optional<std::string> handler{};
  std::optional<std::string> rule{};
  std::string summary;
  std::vector<std::string> tasks{};
  bool arrived = false;
  std::size_t tries = 1;
  std::optional<std::string> why{};
};
EASYRETRY_JSON(SentAnswer, at, channel, status, kind, handler, rule, summary, tasks, arrived, tries, why)

struct AlertsAnswer {
  ShownTime since;
  std::vector<ChannelAnswer> channels{};
  std::vector<RuleAnswer> rules{};
  std::vector<SentAnswer> sent{};
};
EASYRETRY_JSON(AlertsAnswer, since, channels, rules, sent)

struct TestAnswer {
  std::string channel;
  bool arrived = false;
  std::optional<std::string> why;
};
EASYRETRY_JSON(TestAnswer, channel, arrived, why)

template <class Value>
std::optional<Value> unless_zero(Value value) {
  return value == Value{} ? std::nullopt : std::optional{std::move(value)};
}

std::vector<ChannelAnswer> channels_of(const alert::AlertService& alerting) {
  std::vector<ChannelAnswer> channels;
  for (const auto& [name, channel] : alerting.config().channels) {
    channels.push_back(
        {name, config::channel_type_text(channel.type), config::masked_webhook_url(channel.url), channel.per_minute});
  }
  for (const auto& count : alerting.counts()) {
    for (ChannelAnswer& channel : channels) {
      if (channel.name != count.channel) continue;
      channel.delivered = count.delivered;
      channel.failed = count.failed;
    }
  }
  return channels;
}

RuleAnswer rule_answer(const std::string& name, const AlertRule& rule) {
  return {name,
          rule.handlers,
          rule.channels,
          unless_zero(rule.final_failures),
          unless_zero(rule.quarantines),
          unless_zero(rule.backlog_age),
          unless_zero(rule.circuit_open),
          unless_zero(rule.failure_rate)};
}

SentAnswer sent_answer(const alert::Sent& sent) {
  const alert::Message& message = sent.message;
  SentAnswer answer{.at = sent.at,
                    .channel = sent.channel,
                    .status = message.test       ? "test"
                              : message.resolved ? "resolved"
                                                 : "firing",
                    .summary = headline(message),
                    .arrived = sent.arrived,
                    .tries = sent.tries,
                    .why = unless_zero(alert::one_line(sent.why, alert::kLongestError))};
  if (message.test) return answer;
  answer.kind = name_of(message.kind);
  answer.handler = message.handler;
  answer.rule = message.rule;
  for (const alert::Sample& sample : message.samples) answer.tasks.push_back(sample.task_id);
  return answer;
}

// A message about handlers of several namespaces is for tokens of all these namespaces. Tests belong to the daemon.
bool may_see(const Call& call, const alert::Message& message) {
  if (message.name_space == alert::kOthers) return call.by.name_space == kAnyNamespace;
  return message.test || message.name_space == call.name_space->name();
}

// The rules and messages of the namespace. Channels belong to the daemon.
http::Response show_alerts(const Call& call, const alert::AlertService& alerting, TimePoint since) {
  require_known(call.request, {});
  AlertsAnswer answer{.since = since, .channels = channels_of(alerting)};
  for (const auto& [name, rule] : alerting.config().rules) {
    if (alert::matches(rule.namespaces, call.name_space->name())) answer.rules.push_back(rule_answer(name, rule));
  }
  for (const alert::Sent& sent : alerting.sent()) {
    if (may_see(call, sent.message)) answer.sent.push_back(sent_answer(sent));
  }
  return {.body = to_json(answer)};
}

std::string channel_in(const http::Request& request, const AlertsConfig& config) {
  const JsonDocument body = JsonDocument::parse(request.body);
  Fields fields{body.root()};
  std::string channel{fields.need("channel").as_string()};
  fields.end();
  if (config.channels.contains(channel)) return channel;
  std::string known;
  for (const auto& [name, one] : config.channels) known.append(known.empty() ? "" : ", ").append(name);
  throw Refusal{{404, "not_found", "there is no channel \"" + channel + "\"",
                 known.empty() ? "add one to alerts.channels in the configuration" : "the channels are " + known}};
}

http::Response test_channel(const Call& call, alert::AlertService& alerting) {
  require_known(call.request, {});
  const std::string channel = channel_in(call.request, alerting.config());
  const auto [wait, result] = alerting.test(channel);
  if (wait) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*wait).count();
    throw Refusal{
        {429,
         "too_many_messages",
         "nothing was sent: channel " + channel + " has sent its messages of this minute, or a test is in flight",
         "wait as long as Retry-After says",
         {{"Retry-After", std::to_string(seconds)}}}};
  }
  return {.body = to_json(TestAnswer{channel, result.arrived, unless_zero(result.why)})};
}

}  // namespace

void add_alert_endpoints(Api& api, alert::AlertService& alerting) {
  api.add(http::Method::get, "/v1/alerts", Right::view,
          PlainEndpoint{[&alerting, since = system_clock().now()](const Call& call) {
            return show_alerts(call, alerting, since);
          }});
  api.add(http::Method::post, "/v1/alerts/test", Right::operate,
          PlainEndpoint{[&alerting](const Call& call) { return test_channel(call, alerting); }});
}

}  // namespace easyretry::server
