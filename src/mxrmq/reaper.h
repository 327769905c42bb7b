#pragma once
// Takes up what dead workers of either side have left, and what nobody took in its time, in two steps with nothing lost
// between them: first a lease, which runs out if we die; then what the messages' own rules say. For one thread.

#include <string>
#include <vector>

#include "mxrmq/link.h"
#include "mxrmq/settler.h"

namespace easyretry::mxrmq {

struct ReaperOptions {
  std::string worker;  // what its tokens begin with
  std::int64_t max_lost = 3;
  Millis lease = std::chrono::minutes{1};  // until the second step, which somebody else does then
};

class Reaper {
 public:
  Reaper(Link& link, ReaperOptions options) : link_(link), options_(std::move(options)) {}

  struct Round {
    std::int64_t settled = 0;
    bool more = false;
  };
  // Some of those whose time has run out.
  Round reap();
  // What is in processing without a deadline gets one; reap() meets it then.
  std::int64_t adopt(const std::string& topic) { return mxrmq::adopt(link_, topic, options_.lease); }

 private:
  Outcome second_step(const Reaped& reaped, std::int64_t now) const;

  Link& link_;
  const ReaperOptions options_;
  std::int64_t rounds_ = 0;
};

}  // namespace easyretry::mxrmq
