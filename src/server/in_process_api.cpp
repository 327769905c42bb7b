#include "server/in_process_api.h"

#include <future>

#include "call/errors.h"
#include "cluster/open_membership.h"
#include "server/endpoints.h"
#include "storage/open.h"

namespace easyretry::server {
namespace {

// A program that can open the store can read and change all of it.
Token owner_token() {
  return {"(the store's owner)", "admin+payloads", std::string{kAnyNamespace}, {}};
}

std::shared_ptr<storage::Store> open_existing(const std::string& url) {
  if (!storage::stored_settings(url)) {  // opening it would create tables
    throw std::invalid_argument("this database has no EasyRetry store yet; check the url");
  }
  return storage::open_store(url, system_clock());
}

// Leaves out the settings that only matter for running tasks: no membership, no webhooks.
Config without_running(Config config) {
  config.engine.membership = "alone";
  config.engine.workers = 1;
  config.defaults.url.reset();
  for (auto& [name, handler] : config.handlers) handler.url.reset();
  return config;
}

// For a process that is not a member.
LookAtCluster cluster_viewer(const std::string& membership) {
  return [choice = cluster::parse_membership(membership)](Namespace& name_space) {
    auto seen = call::value_or_throw(cluster::list_members(choice, name_space.core().store(), name_space.name()));
    return ClusterSeen{{.members = std::move(seen.list.members),
                        .self = {},
                        .shards = {},
                        .source = std::move(seen.source),
                        .trusted = true,
                        .age = seen.age},
                       std::move(seen.list.refused)};
  };
}

}  // namespace

InProcessApi::InProcessApi(const Config& config)
    : store_((validate(config.engine), open_existing(config.store_url()))),
      namespace_(std::make_shared<Namespace>(store_, without_running(config))),
      split_(store_, system_clock(), {}),
      api_(Namespaces{{namespace_->name(), namespace_}}, std::make_shared<Tokens>(""),
           ApiOptions{.name_space = namespace_->name(), .audit = config.server.audit}) {
  add_task_endpoints(api_);
  add_task_end_endpoints(api_);
  add_bulk_endpoints(api_);
  add_handler_endpoints(api_);
  add_errors_endpoint(api_);
  add_doctor_endpoint(api_, false);
  add_system_endpoints(api_);
  add_split_endpoints(api_, split_);
  add_cluster_endpoint(api_, cluster_viewer(config.engine.membership));
}

http::Response InProcessApi::ask(http::Request request) {
  // Shared: the answering thread may still be inside set_value() when get() returns.
  const auto answered = std::make_shared<std::promise<http::Response>>();
  auto answer = answered->get_future();
  api_.serve_as(owner_token(), std::move(request),
                [answered](http::Response response) { answered->set_value(std::move(response)); });
  return answer.get();
}

}  // namespace easyretry::server
