#include "webhook/delivery.h"

#include "base/traceparent.h"

namespace easyretry::webhook {

void sign(Call& call, const std::string& id, TimePoint now, std::span<const SigningSecret> secrets) {
  const auto sent = std::chrono::floor<std::chrono::seconds>(now);
  call.headers.push_back({"webhook-id", id});
  call.headers.push_back({"webhook-timestamp", std::to_string(sent.time_since_epoch().count())});
  call.headers.push_back({"webhook-signature", signature({id, sent, call.body}, secrets)});
}

Call to_call(const Delivery& delivery, const Endpoint& endpoint, TimePoint now, std::stop_token stop) {
  Call call{.url = endpoint.url, .body = delivery.body, .timeout = endpoint.timeout, .stop = std::move(stop)};
  call.headers = {{"content-type", "application/json"}};
  sign(call, delivery.task_id, now, endpoint.secrets);
  for (Header& header : std::vector<Header>{{"easyretry-task-id", delivery.task_id},
                                            {"easyretry-task-key", header_text(delivery.task_key)},
                                            {"easyretry-handler", header_text(delivery.handler)},
                                            {"easyretry-attempt", std::to_string(delivery.attempt)},
                                            {"easyretry-version", std::to_string(delivery.version)}}) {
    call.headers.push_back(std::move(header));
  }
  if (base::read_traceparent(delivery.traceparent)) call.headers.push_back({"traceparent", delivery.traceparent});
  return call;
}

}  // namespace easyretry::webhook
