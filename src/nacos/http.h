#pragma once
// The one thing that servers do not offer over gRPC: logging in.

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

// Errors never contain the fields. Follows no redirection and uses no proxy.
Result<HttpReply> post_form(const std::string& url, const FormFields& fields, const std::optional<TlsOptions>& tls,
                            Millis timeout, const std::stop_token& stop);

}  // namespace easyretry::nacos
