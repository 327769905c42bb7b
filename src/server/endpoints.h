#pragma once
// The endpoints of the API, a function for each group of paths. Documented in docs/api.md and openapi/openapi.yaml.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "alert/alert_service.h"
#include "cluster/membership.h"
#include "server/api.h"
#include "server/table_split.h"
#include "trace/trace_service.h"

namespace easyretry::server {

extern const std::string_view kOpenApi;  // openapi/openapi.yaml

// The daemon as it describes itself to clients with a token.
struct About {
  std::string store;  // its URL without secrets
  std::string durability;
  std::vector<std::string> features{};  // that the configuration turns on: "dashboard", "audit", …
};
void add_identity_endpoints(Api& api, const About& about);  // /v1/session, /v1/whoami, /v1/namespaces, /v1/tokens

void add_audit_endpoint(Api& api);                                  // /v1/audit
void add_alert_endpoints(Api& api, alert::AlertService& alerting);  // /v1/alerts; `alerting` must outlive the api

void add_task_endpoints(Api& api);         // /v1/tasks, /v1/history
void add_task_end_endpoints(Api& api);     // /v1/tasks/{id}/cancel, complete, fail, requeue
void add_bulk_endpoints(Api& api);         // /v1/bulk
void add_event_endpoint(Api& api);         // /v1/events
void add_lease_endpoints(Api& api);        // /v1/leases: workers in other processes
void add_lease_batch_endpoints(Api& api);  // /v1/leases/settle and /renew: engines in other processes
// /metrics, of all these namespaces or of the token's.
// `tracing`: null if it is off. Both must outlive the api.
void add_metrics_endpoint(Api& api, const Namespaces& namespaces, const alert::AlertService& alerting,
                          const trace::TraceService* tracing);
void add_handler_endpoints(Api& api);  // /v1/handlers
void add_circuit_endpoints(Api& api);  // /v1/circuits
void add_limit_endpoints(Api& api);    // /v1/limits
// /v1/doctor. `runs_tasks` as in check_tasks(); without it, instances and late tasks are left out.
void add_doctor_endpoint(Api& api, bool runs_tasks);
void add_series_endpoint(Api& api);                     // /v1/series
void add_errors_endpoint(Api& api);                     // /v1/errors
void add_system_endpoints(Api& api);                    // /v1/tables, /v1/openapi.yaml
void add_split_endpoints(Api& api, TableSplit& split);  // /v1/split; `split` must outlive the api

struct ClusterSeen {
  ClusterView view;
  std::vector<cluster::RefusedMember> refused{};
};
using LookAtCluster = std::function<ClusterSeen(Namespace& name_space)>;
void add_cluster_endpoint(Api& api, LookAtCluster look);  // /v1/cluster, as this instance sees it

}  // namespace easyretry::server
