#pragma once
// What the engines of these namespaces have counted and measured, and what their store says of what is to be done, in
// the text format of Prometheus; docs/metrics.md says it to people.

#include <memory>
#include <string>
#include <vector>

#include "server/alerting.h"
#include "server/space.h"

namespace easyretry::server {

// Waits for the store. One that does not answer costs its own numbers and no others.
std::string metrics_text(const std::vector<std::shared_ptr<Space>>& spaces, const std::vector<Alerting::Count>& alerts);

}  // namespace easyretry::server
