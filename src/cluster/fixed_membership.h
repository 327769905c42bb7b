#pragma once
// A list that somebody wrote down: this instance is the third of eight. Nobody joins or leaves; the shards of one that
// is down are served by the sweep for overdue tasks.

#include "cluster/membership.h"

namespace easyretry::cluster {

inline constexpr std::size_t kMostMembers = 4096;  // as many as there can be shards

class FixedMembership final : public Membership {
 public:
  FixedMembership(std::size_t index, std::size_t members, const std::string& node);

  const Traits& traits() const override { return traits_; }
  // What the others run nobody has written down.
  Result<Roll> refresh(const Word& /*word*/) override { return Roll{list_}; }
  void leave() override {}

 private:
  std::vector<Member> list_;
  const Traits traits_;
};

}  // namespace easyretry::cluster
