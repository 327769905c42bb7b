#include "alert/http_channel.h"

#include <future>

#include "alert/secret_line.h"
#include "alert/templates.h"
#include "webhook/delivery.h"
#include "webhook/destination.h"

namespace easyretry::alert {
namespace {

constexpr Millis kTimeout{30'000};

webhook::CallResult heard_of(webhook::Caller& caller, webhook::Call call) {
  // Shared with the caller's thread, which may still be in set_value() when this one goes on.
  const auto heard = std::make_shared<std::promise<webhook::CallResult>>();
  auto coming = heard->get_future();
  caller.start(std::move(call), [heard](webhook::CallResult answer) { heard->set_value(std::move(answer)); });
  return coming.get();
}

}  // namespace

HttpChannel::HttpChannel(AlertChannel config, webhook::Caller& caller) : config_(std::move(config)), caller_(caller) {
  webhook::parse_destination(config_.url);
  if (config_.type == ChannelType::webhook) {
    signing_.emplace(config_.secret_file);
  } else if (!config_.secret_file.empty()) {
    secret_line(config_.secret_file);
  }
}

Told HttpChannel::send(const Message& message, const std::string& id, const std::stop_token& stop) {
  Mask mask{config_.url};
  Told told;
  try {
    webhook::Call call = call_for(message, id, system_clock().now(), mask);
    call.stop = stop;
    told = judged(config_.type, heard_of(caller_, std::move(call)));
  } catch (const std::invalid_argument& e) {  // a secret that is none any more
    told.why = e.what();
  }
  told.why = mask.apply(told.why);
  return told;
}

webhook::Call HttpChannel::call_for(const Message& message, const std::string& id, TimePoint now, Mask& mask) {
  webhook::Call call{.url = config_.url, .headers = {{"content-type", "application/json"}}, .timeout = kTimeout};
  std::string secret;
  if (!signing_ && !config_.secret_file.empty()) secret = secret_line(config_.secret_file);
  mask.also_hide(secret);
  switch (config_.type) {
    case ChannelType::slack: call.body = slack_body(message); break;
    case ChannelType::wecom: call.body = wecom_body(message); break;
    case ChannelType::dingtalk:
      call.body = dingtalk_body(message);
      if (!secret.empty()) call.url += dingtalk_query(secret, now);
      break;
    case ChannelType::feishu:
      call.body = feishu_body(
          message, secret.empty() ? std::nullopt : std::optional<FeishuSignature>{feishu_signature(secret, now)});
      break;
    default: call.body = webhook_body(message, now); webhook::sign(call, id, now, signing_->current());
  }
  return call;
}

}  // namespace easyretry::alert
