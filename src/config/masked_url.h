#pragma once

#include <string>
#include <string_view>

namespace easyretry::config {

// mysql://app:***@host/db, and ***, too, for options called password, token, secret or key. Where a password with odd
// characters makes it unclear, rather more is masked than less.
std::string masked_url(std::string_view url);

// https://hooks.slack.com/***: whoever knows what is behind the host, or in front of it, may call it.
std::string masked_webhook_url(std::string_view url);

}  // namespace easyretry::config
