#pragma once
// Which list of members counts. A source may flap, lag, lose its memory or be gone; moving shards at each of its words
// would cost more than a view that is a little old. So joins and leaves count when nothing has changed for a moment;
// a list that lost more than half of us only when it stays so; and one that is empty or without ourselves never.
//
// One thread at a time. Times are given, so tests need no clock.

#include <optional>
#include <string>
#include <vector>

#include <easyretry/cluster.h>

namespace easyretry::cluster {

// How long a list must stay the same before it counts.
struct Patience {
  Millis joins{1000};
  Millis leaves{2000};
  Millis shrinking{5000};  // a source that restarted has its members back by then
};

class Members {
 public:
  explicit Members(std::string self, Patience patience = {}) : self_(std::move(self)), patience_(patience) {}

  void heard(std::vector<Member> list, Instant now);
  // The source did not answer.
  void missed() { answers_ = false; }

  // True: another list counts from now on.
  bool settle(Instant now);
  // When settle() may say so by itself.
  Instant next() const { return due_; }

  const std::vector<Member>& list() const { return counting_; }
  // What was heard last, where it differs, is to be believed and waits to count; otherwise null.
  const std::vector<Member>* waiting() const;
  // Where we are in the list; nothing as long as there is none.
  std::optional<std::size_t> place() const { return place_in(counting_); }
  std::optional<std::size_t> place_in(const std::vector<Member>& list) const;
  bool trusted() const { return answers_ && !counting_.empty() && due_ == Instant::max() && !doubtful_; }
  // When the source last gave a list.
  Instant heard_at() const { return heard_at_; }

 private:
  enum class Change { none, joined, left, shrunk, impossible };
  Change change() const;

  const std::string self_;
  const Patience patience_;
  std::vector<Member> counting_;  // ascending by node, like all lists here
  std::vector<Member> heard_;
  Instant heard_at_{};
  Instant same_since_{};     // heard_ has been this list since then
  Instant differs_since_{};  // heard_ has not been counting_ since then
  bool differs_ = false;
  Instant due_ = Instant::max();
  bool answers_ = false;
  bool doubtful_ = false;  // what was heard last is not to be believed
};

}  // namespace easyretry::cluster
