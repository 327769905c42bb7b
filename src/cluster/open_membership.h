#pragma once
// Reads the option that says where the list of members comes from (`store`, `alone`, `static:2/8`, `nacos://…`), and
// opens it.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <easyretry/options.h>

#include "cluster/membership.h"
#include "cluster/registry.h"
#include "storage/store.h"

namespace easyretry::cluster {

struct MembershipChoice {
  enum class Kind { store, alone, fixed, registry };
  Kind kind = Kind::store;
  // For a fixed list
  std::size_t index = 0;
  std::size_t members = 1;
  std::shared_ptr<const Registry> registry{};  // for a registry
};

// The instance that joins.
struct JoiningInstance {
  std::string name_space;
  std::string node;
  Millis lease{};
  LogSink log{};
};

// Throws std::invalid_argument that says what is allowed, or that this program was built without the registry.
MembershipChoice parse_membership(std::string_view text);

// Throws std::invalid_argument if members find each other outside a store that only one of them could use.
void require_shared_store(const MembershipChoice& choice, bool shared);

// Null: this instance is the only one. The same if the store cannot be shared.
std::unique_ptr<Membership> open_membership(const MembershipChoice& choice, storage::Store& store,
                                            JoiningInstance instance);

// Reads the members without joining. May take as long as the network does; 10 s at most with a registry.
Result<MembersReport> list_members(const MembershipChoice& choice, storage::Store& store,
                                   const std::string& name_space);

}  // namespace easyretry::cluster
