#pragma once
// The endpoints of the API, a function for each group of paths. Documented in docs/api.md and openapi/openapi.yaml.

#include <functional>
#include <string_view>
#include <vector>

#include "cluster/membership.h"
#include "server/alerting.h"
#include "server/api.h"
#include "server/table_split.h"

namespace easyretry::server {

extern const std::string_view kOpenApi;  // openapi/openapi.yaml

void add_task_endpoints(Api& api);         // /v1/tasks, /v1/history
void add_bulk_endpoints(Api& api);         // /v1/bulk
void add_event_endpoint(Api& api);         // /v1/events
void add_lease_endpoints(Api& api);        // /v1/leases: workers in other processes
void add_lease_batch_endpoints(Api& api);  // /v1/leases/settle and /renew: engines in other processes
// /metrics, of all these namespaces or of the token's.
void add_metrics_endpoint(Api& api, const Spaces& spaces, const Alerting& alerting);
void add_handler_endpoints(Api& api);                   // /v1/handlers
void add_system_endpoints(Api& api);                    // /v1/tables, /v1/openapi.yaml
void add_split_endpoints(Api& api, TableSplit& split);  // /v1/split; `split` must outlive the api

struct ClusterSeen {
  ClusterView view;
  std::vector<cluster::Refused> refused{};
};
using LookAtCluster = std::function<ClusterSeen(Space& space)>;
void add_cluster_endpoint(Api& api, LookAtCluster look);  // /v1/cluster, as this instance sees it

}  // namespace easyretry::server
