#pragma once
// A registry that was away, or that we were away from, gets its members back one by one. For a while after a new
// connection whoever was there before is taken to be there still.
//
// One thread at a time. Times are given, so tests need no clock.

#include <cstdint>
#include <vector>

#include <easyretry/cluster.h>

namespace easyretry::cluster {

class ComingBack {
 public:
  explicit ComingBack(Millis patience) : patience_(patience) {}

  // The list to go by. `connection` is another number for another connection.
  std::vector<Member> list(std::vector<Member> heard, std::uint64_t connection, Instant now);

 private:
  const Millis patience_;
  std::vector<Member> last_;  // list that was given
  std::uint64_t connection_ = 0;
  std::vector<Member> before_;  // the last list of the connection before
  Instant until_ = Instant::min();
};

}  // namespace easyretry::cluster
