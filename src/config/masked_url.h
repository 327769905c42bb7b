#pragma once

#include <string>
#include <string_view>

namespace easyretry::config {

// mysql://app:***@host/db; the values of options named password, token, secret or key are masked, too. If a password
// with special characters makes the url ambiguous, too much is masked rather than too little.
std::string masked_url(std::string_view url);

// https://hooks.slack.com/***: the user, the path and the query are secrets.
std::string masked_webhook_url(std::string_view url);

}  // namespace easyretry::config
