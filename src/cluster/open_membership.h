#pragma once
// Reads the option that says where the list of members comes from (`store`, `alone`, `static:2/8`, `nacos://…`), and
// opens it.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <easyretry/options.h>

#include "cluster/membership.h"
#include "nacos/options.h"
#include "storage/store.h"

namespace easyretry::cluster {

struct MembershipChoice {
  enum class Kind { store, alone, fixed, nacos };
  Kind kind = Kind::store;
  // For a fixed list
  std::size_t index = 0;
  std::size_t members = 1;
  nacos::ServiceUrl service{};  // for Nacos
};

// The instance that joins.
struct JoiningInstance {
  std::string space;
  std::string node;
  Millis lease{};
  LogSink log{};
};

// Throws std::invalid_argument that says what is allowed.
MembershipChoice parse_membership(std::string_view text);

// Throws std::invalid_argument if members find each other outside a store that only one of them could use.
void require_shared_store(const MembershipChoice& choice, bool shared);

// Null: this instance is the only one. The same if the store cannot be shared.
std::unique_ptr<Membership> open_membership(MembershipChoice choice, storage::Store& store, JoiningInstance instance);

struct MembersReport {
  MemberList list;
  std::string source;  // for display: "store", "nacos 10.0.0.7:8848, DEFAULT_GROUP@@orders"
  Millis age{};        // since the source returned the list
  TimePoint now{};     // on the clock of the members' `since`
};

// Reads the members without joining. May take as long as the network does; 10 s at most with a registry.
Result<MembersReport> list_members(const MembershipChoice& choice, storage::Store& store, const std::string& space);

}  // namespace easyretry::cluster
