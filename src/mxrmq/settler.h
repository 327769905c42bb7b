#pragma once
// Tells Redis what has become of messages, many at a time, and as often as it takes. One thread of its own.

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "mxrmq/complaints.h"
#include "mxrmq/holdings.h"
#include "mxrmq/link.h"
#include "mxrmq/tally.h"
#include "mxrmq/verbs.h"

namespace easyretry::mxrmq {

struct Outcome {
  enum class Kind { completed, retried, dead, unreadable };
  Kind kind = Kind::completed;
  std::string topic;
  Hold hold;
  Millis delay{0};   // of a retry
  std::string json;  // what is stored of it, unless it was completed
};

// Those of one topic and kind; at most kMessagesACall. One answer for each, as the verbs give it.
std::vector<bool> settle(Link& link, const std::vector<Outcome>& alike);

class Settler {
 public:
  Settler(Link& link, Holdings& holdings, Tally& tally, LogSink log);
  ~Settler();  // stop()
  Settler(const Settler&) = delete;
  Settler& operator=(const Settler&) = delete;

  void add(Outcome outcome);
  // When all is told, or the server has refused once more: a lease that is not ended runs out.
  void stop();

 private:
  void run();
  bool settle_all(std::vector<Outcome>& outcomes);
  void note(const std::vector<Outcome>& settled, const std::vector<bool>& answers);

  Link& link_;
  Holdings& holdings_;
  Tally& tally_;
  Complaints complaints_;  // the thread's

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<Outcome> waiting_;
  bool stopping_ = false;

  std::jthread thread_;  // last: it uses all of the above
};

}  // namespace easyretry::mxrmq
