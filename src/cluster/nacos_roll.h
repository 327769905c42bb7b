#pragma once
// What an instance of ours writes into a registry about itself, and what is made of a list that a registry gives. Pure.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cluster/membership.h"
#include "nacos/instance.h"

namespace easyretry::cluster {

// What members have in common. Whoever says otherwise works on other tasks.
struct Company {
  std::string space;
  int total_shards = 0;
};

struct Myself {
  std::string node;
  TimePoint since{};
  std::string says{};
  std::optional<std::vector<std::string>> handlers{};  // as in Member
};

// A server refuses metadata of more characters than this, keys and values together.
inline constexpr std::size_t kMostMetadata = 1024;

// As metadata of the instance: nodeId, epoch, version, space, totalShards, shards, and handlers if there is room for
// them. False: there is not.
bool introduce(nacos::Instance& instance, const Company& company, const Myself& myself);

// Each node once. An instance that takes no traffic is not there; one of another company, or of another program, is
// refused.
Roll call_roll(const nacos::ServiceView& view, const Company& company);

}  // namespace easyretry::cluster
