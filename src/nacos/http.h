#pragma once
// What goes to servers by HTTP: logging in, which they do not offer over gRPC, and naming where gRPC is blocked.

#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <easyretry/error.h>
#include <easyretry/time.h>

#include "nacos/options.h"

namespace easyretry::nacos {

struct HttpReply {
  long status;  // 0: none that HTTP knows
  std::string body;
};

using FormFields = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;  // POST sends its fields as a form, others in the url
  std::string url;
  FormFields fields{};
  std::string token{};  // empty: none
};

struct HttpLimits {
  Millis connect;
  Millis answer;
  std::stop_token stop;
};

// Errors contain neither fields nor token. Follows no redirection and uses no proxy.
Result<HttpReply> ask_by_http(const HttpRequest& request, const std::optional<TlsOptions>& tls,
                              const HttpLimits& limits);

}  // namespace easyretry::nacos
