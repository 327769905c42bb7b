#pragma once
// What a worker does besides running messages: it renews its leases, makes delayed messages available when they are
// due, and takes up what dead workers have left. One thread.

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mxrmq/complaints.h"
#include "mxrmq/holdings.h"
#include "mxrmq/reaper.h"
#include "mxrmq/tally.h"

namespace easyretry::mxrmq {

struct KeeperOptions {
  std::vector<std::string> topics;
  std::string worker;
  WorkerOptions timing;
};

class Keeper {
 public:
  Keeper(Link& link, Holdings& holdings, Tally& tally, KeeperOptions options);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

 private:
  using Steady = std::chrono::steady_clock;

  void run();
  void renew();
  // A slice each, so that renewals do not wait for long; give when there is more to do.
  Millis promote();
  Millis reap();
  template <class Work>
  void guarded(const std::string& what, Work work);

  Link& link_;
  Holdings& holdings_;
  Tally& tally_;
  const KeeperOptions options_;
  Reaper reaper_;
  Complaints complaints_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;  // guarded by mutex_

  std::jthread thread_;
};

}  // namespace easyretry::mxrmq
