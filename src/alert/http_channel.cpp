// Chat products and webhooks: each message is a POST, guarded like the webhooks to handlers.

#include <future>
#include <optional>
#include <stdexcept>

#include "alert/channel.h"
#include "alert/mask.h"
#include "alert/products.h"
#include "webhook/delivery.h"
#include "webhook/destination.h"
#include "webhook/secrets_file.h"

namespace easyretry::alert {
namespace {

constexpr Millis kTimeout{30'000};

webhook::CallResult call_and_wait(webhook::Caller& caller, webhook::Call call) {
  // Shared with the caller's thread, which may still be in set_value() when this thread continues.
  const auto heard = std::make_shared<std::promise<webhook::CallResult>>();
  auto answered = heard->get_future();
  caller.start(std::move(call), [heard](webhook::CallResult answer) { heard->set_value(std::move(answer)); });
  return answered.get();
}

class HttpChannel final : public Channel {
 public:
  HttpChannel(AlertChannel config, webhook::Caller& caller);

  SendResult send(const Message& message, const std::string& id, const std::stop_token& stop) override;

 private:
  webhook::Call call_for(const Message& message, const std::string& id, TimePoint now, Mask& mask);

  const AlertChannel config_;
  webhook::Caller& caller_;
  std::optional<webhook::SecretsFile> signing_secrets_;  // only for type webhook
};

HttpChannel::HttpChannel(AlertChannel config, webhook::Caller& caller) : config_(std::move(config)), caller_(caller) {
  const auto objection = caller_.guard().objection(webhook::parse_destination(config_.url));
  if (objection) throw std::invalid_argument(*objection);
  if (config_.type == ChannelType::webhook) {
    signing_secrets_.emplace(config_.secret_file);
  } else if (!config_.secret_file.empty()) {
    secret_line(config_.secret_file);
  }
}

SendResult HttpChannel::send(const Message& message, const std::string& id, const std::stop_token& stop) {
  Mask mask{config_.url};
  SendResult result;
  try {
    webhook::Call call = call_for(message, id, system_clock().now(), mask);
    call.stop = stop;
    result = judge_answer(config_.type, call_and_wait(caller_, std::move(call)));
  } catch (const std::invalid_argument& e) {  // the secret can no longer be read
    result.why = e.what();
  }
  result.why = mask.apply(result.why);
  return result;
}

webhook::Call HttpChannel::call_for(const Message& message, const std::string& id, TimePoint now, Mask& mask) {
  webhook::Call call{.url = config_.url, .headers = {{"content-type", "application/json"}}, .timeout = kTimeout};
  std::string secret;
  if (!signing_secrets_ && !config_.secret_file.empty()) secret = secret_line(config_.secret_file);
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
    default: call.body = webhook_body(message, now); webhook::sign(call, id, now, signing_secrets_->current());
  }
  return call;
}

}  // namespace

std::unique_ptr<Channel> open_http_channel(const AlertChannel& config, webhook::Caller& caller) {
  return std::make_unique<HttpChannel>(config, caller);
}

}  // namespace easyretry::alert
