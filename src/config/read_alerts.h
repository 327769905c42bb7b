#pragma once

#include <string>

#include <easyretry/alerts.h>

#include "config/entries.h"

namespace easyretry::config {

// Changes `alerts` as far as what it reads is right, and says what is not. What belongs together is looked at, too:
// what a channel's type needs and does not know, and whether a rule's channels are there.
void read_alerts(AlertsConfig& alerts, const Node& map, const std::string& path, Entries& entries);

}  // namespace easyretry::config
