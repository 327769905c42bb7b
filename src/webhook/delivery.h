#pragma once
// The signed request that delivers a task to a handler behind a URL. docs/webhooks.md describes it for receivers. Pure.

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "webhook/call.h"
#include "webhook/signature.h"

namespace easyretry::webhook {

struct Delivery {
  std::string task_id;  // letters, digits, - and _; also the webhook-id
  std::string task_key;
  std::string handler;
  int attempt = 1;
  std::uint64_t version = 0;  // the fencing token
  std::string traceparent{};  // left out if it does not have the W3C format
  std::string body{};         // JSON
};

struct Endpoint {
  std::string url;
  std::vector<SigningSecret> secrets;  // all that are valid now; at least one
  Millis timeout{30'000};
};

// Adds webhook-id, webhook-timestamp and webhook-signature for the body of the call. Throws std::invalid_argument if it
// cannot be signed (see signature.h).
void sign(Call& call, const std::string& id, TimePoint now, std::span<const SigningSecret> secrets);

// Throws as sign() does.
Call to_call(const Delivery& delivery, const Endpoint& endpoint, TimePoint now, std::stop_token stop);

}  // namespace easyretry::webhook
