#pragma once
// An admitted request, and the endpoint that serves it.

#include <functional>
#include <memory>

#include "http/message.h"
#include "server/namespace.h"
#include "server/tokens.h"

namespace easyretry::server {

struct Call {
  http::Request request;
  std::shared_ptr<Namespace> name_space;
  Token by;
};

// Answers later, from any thread. Called on the server's thread unless the body is long, so it must not block; may
// throw.
using Endpoint = std::function<void(Call, http::Respond)>;
// Returns the response; may wait for the store; may throw.
using PlainEndpoint = std::function<http::Response(const Call&)>;

}  // namespace easyretry::server
