#pragma once
// Whether the tasks of a handler are run, and on which instances.
//
// The daemon knows every handler that a task or a request has named, even a misspelt one. A handler is served only if
// an instance or a worker takes its tasks.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <easyretry/cluster.h>

#include "server/namespace.h"

namespace easyretry::server {

// As this instance sees it at the time of construction.
class ServedHandlers {
 public:
  explicit ServedHandlers(Namespace& name_space);

  bool is_served(const std::string& handler) const { return !instances(handler).empty(); }
  // The nodes that take its tasks, this one first. Leaves out an instance that does not report its handlers, as in a
  // static list of members.
  std::vector<std::string> instances(const std::string& handler) const;
  // All handlers that are served.
  std::set<std::string> names() const;

 private:
  bool is_served_here(const std::string& handler) const;

  const std::shared_ptr<const engine::HandlerTable> known_;
  const ClusterView cluster_;
  const std::set<std::string, std::less<>> busy_;  // handlers of tasks that workers have leased here
};

// For names that are not served, the served names that were probably meant. Empty if many names are not served: then
// their workers are down, and no name is misspelt. The names come from clients, and each comparison costs the product
// of their lengths.
std::map<std::string, std::string> names_meant(const std::vector<std::string>& unserved,
                                               const std::set<std::string>& served);

}  // namespace easyretry::server
