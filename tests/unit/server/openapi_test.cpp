// The document against the routes there are.

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include "server/endpoints.h"

namespace easyretry::server {
namespace {

std::string in_capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

TEST(OpenApi, ListsEveryRouteAndNoOther) {
  Api api{{}, nullptr, {}};
  add_identity_endpoints(api, {});
  add_audit_endpoint(api);
  alert::AlertService alerting{Config{}, {}};
  add_alert_endpoints(api, alerting);
  add_task_endpoints(api);
  add_task_end_endpoints(api);
  add_bulk_endpoints(api);
  add_event_endpoint(api);
  add_lease_endpoints(api);
  add_lease_batch_endpoints(api);
  add_handler_endpoints(api);
  add_circuit_endpoints(api);
  add_limit_endpoints(api);
  add_errors_endpoint(api);
  add_series_endpoint(api);
  add_doctor_endpoint(api, true);
  add_system_endpoints(api);
  TableSplit split{nullptr, system_clock(), {}};
  add_split_endpoints(api, split);
  add_cluster_endpoint(api, {});
  add_metrics_endpoint(api, {}, alerting, nullptr);
  const std::vector<std::string> routes = api.routes();
  std::set<std::string> served{routes.begin(), routes.end()};
  served.insert({"GET /healthz", "GET /readyz"});  // of the daemon

  std::set<std::string> written;
  const YAML::Node document = YAML::Load(std::string{kOpenApi});
  for (const auto& path : document["paths"]) {
    for (const auto& method : path.second) {
      written.insert(in_capitals(method.first.as<std::string>()) + " " + path.first.as<std::string>());
    }
  }
  EXPECT_EQ(written, served);
}

}  // namespace
}  // namespace easyretry::server
