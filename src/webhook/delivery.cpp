#include "webhook/delivery.h"

#include <algorithm>

namespace easyretry::webhook {
namespace {

// version-trace-parent-flags: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01. A task with any other text runs
// all the same.
bool is_traceparent(std::string_view text) {
  constexpr std::string_view kForm = "00-00000000000000000000000000000000-0000000000000000-00";
  return std::ranges::equal(text, kForm, [](char c, char form) {
    return form == '-' ? c == '-' : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

}  // namespace

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
  if (is_traceparent(delivery.traceparent)) call.headers.push_back({"traceparent", delivery.traceparent});
  return call;
}

}  // namespace easyretry::webhook
