// /metrics.

#include "server/endpoints.h"
#include "server/metrics.h"
#include "server/query.h"

namespace easyretry::server {
namespace {

// One of all namespaces sees them all, unless it asks for one.
std::vector<std::shared_ptr<Space>> seen_by(const Call& call, const Spaces& spaces) {
  if (call.by.space != kAnyNamespace || call.request.header(kNamespaceHeader)) return {call.space};
  std::vector<std::shared_ptr<Space>> all;
  for (const auto& [name, space] : spaces) all.push_back(space);
  return all;
}

}  // namespace

void add_metrics_endpoint(Api& api, const Spaces& spaces) {
  api.add(http::Method::get, "/metrics", Right::view, PlainEndpoint{[spaces](const Call& call) {
            require_known(call.request, {});
            return http::Response{.body = metrics_text(seen_by(call, spaces)),
                                  .content_type = "text/plain; version=0.0.4; charset=utf-8"};
          }});
}

}  // namespace easyretry::server
