#pragma once
// `store`, `alone`, `static:2/8`, `nacos://…`: where the list of members comes from, as an option says it.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <easyretry/options.h>

#include "cluster/membership.h"
#include "nacos/nacos_url.h"
#include "storage/store.h"

namespace easyretry::cluster {

struct MembershipChoice {
  enum class Kind { store, alone, fixed, nacos };
  Kind kind = Kind::store;
  // Of a fixed list
  std::size_t index = 0;
  std::size_t members = 1;
  nacos::ServiceUrl service{};  // of Nacos
};

// The instance that wants to be a member.
struct Joiner {
  std::string space;
  std::string node;
  Millis lease{};
  LogSink log{};
};

// Throws std::invalid_argument, naming what would be right.
MembershipChoice parse_membership(std::string_view text);

// Throws std::invalid_argument for members that meet elsewhere, and a store that only one of them could use.
void require_shared_store(const MembershipChoice& choice, bool shared);

// Null: this instance is the only one. That is so, too, where a store cannot be shared.
std::unique_ptr<Membership> open_membership(MembershipChoice choice, storage::Store& store, Joiner joiner);

}  // namespace easyretry::cluster
