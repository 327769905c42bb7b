#include "server/whole_store.h"

#include "server/refusal.h"

namespace easyretry::server {

void require_all_namespaces(const Call& call, const std::string& role) {
  if (call.by.space == kAnyNamespace) return;
  throw Refusal{{403, "forbidden_namespace",
                 "tables belong to all namespaces, and token " + call.by.name + " is for one",
                 "use a token for all of them: `easyretry token create NAME --role " + role + " --space '*'`"}};
}

}  // namespace easyretry::server
