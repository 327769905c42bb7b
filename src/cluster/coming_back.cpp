#include "cluster/coming_back.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace easyretry::cluster {

std::vector<Member> ComingBack::list(std::vector<Member> heard, std::uint64_t connection, Instant now) {
  if (connection != connection_) {
    connection_ = connection;
    until_ = now + patience_;
    before_ = last_;
  }
  if (now < until_) {
    const auto is_there = [&](const Member& member) {
      return std::any_of(heard.begin(), heard.end(), [&](const Member& one) { return one.node == member.node; });
    };
    std::vector<Member> missing;
    std::copy_if(before_.begin(), before_.end(), std::back_inserter(missing), std::not_fn(is_there));
    heard.insert(heard.end(), missing.begin(), missing.end());
  }
  last_ = heard;
  return heard;
}

}  // namespace easyretry::cluster
