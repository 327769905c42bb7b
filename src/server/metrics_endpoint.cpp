// /metrics.

#include "server/endpoints.h"
#include "server/metrics.h"
#include "server/query.h"

namespace easyretry::server {
namespace {

bool sees_all(const Call& call) {
  return call.by.space == kAnyNamespace && !call.request.header(kNamespaceHeader);
}

// One of all namespaces sees them all, unless it asks for one.
std::vector<std::shared_ptr<Space>> seen_by(const Call& call, const Spaces& spaces) {
  if (!sees_all(call)) return {call.space};
  std::vector<std::shared_ptr<Space>> all;
  for (const auto& [name, space] : spaces) all.push_back(space);
  return all;
}

}  // namespace

// Channels belong to no namespace: who sees one alone does not see them.
void add_metrics_endpoint(Api& api, const Spaces& spaces, const Alerting& alerting) {
  api.add(http::Method::get, "/metrics", Right::view, PlainEndpoint{[spaces, &alerting](const Call& call) {
            require_known(call.request, {});
            const auto alerts = sees_all(call) ? alerting.counts() : std::vector<Alerting::Count>{};
            return http::Response{.body = metrics_text(seen_by(call, spaces), alerts),
                                  .content_type = "text/plain; version=0.0.4; charset=utf-8"};
          }});
}

}  // namespace easyretry::server
