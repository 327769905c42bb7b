#pragma once
// What belongs together in a channel or a rule. Pure.

#include <string>
#include <vector>

#include <easyretry/alerts.h>

namespace easyretry::config {

// Each says what is wrong and what to write; none names a url, which is a secret.
std::vector<std::string> objections(const AlertChannel& channel);
std::vector<std::string> objections(const AlertRule& rule);

}  // namespace easyretry::config
