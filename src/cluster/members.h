#pragma once
// Decides which list of members is in effect. A source may flap, lag, lose its data or be unreachable. Moving shards
// after every report would cost more than a slightly old view. So joins and leaves take effect when the list has not
// changed for a moment; a list that lost more than half of the members, only if it stays like that for longer; and a
// list that is empty or does not contain this instance, never.
//
// For one thread at a time. Times are parameters, so tests need no clock.

#include <optional>
#include <string>
#include <vector>

#include <easyretry/cluster.h>

namespace easyretry::cluster {

// How long a list must stay the same before it takes effect.
struct Debounce {
  Millis joins{1000};
  Millis leaves{2000};
  Millis shrinking{5000};  // by then, a source that restarted has its members back
};

class Members {
 public:
  explicit Members(std::string self, Debounce debounce = {}) : self_(std::move(self)), debounce_(debounce) {}

  // The source returned this list.
  void report(std::vector<Member> list, Instant now);
  // The source did not answer: the list in effect stays.
  void report_failure() { answers_ = false; }

  // Puts the last reported list into effect if its time has come. Returns true if the members have changed.
  bool apply(Instant now);
  // When apply() may return true without a new report.
  Instant next() const { return due_; }

  const std::vector<Member>& list() const { return in_effect_; }
  // The last reported list, if it differs, is plausible and waits to take effect; otherwise null.
  const std::vector<Member>* pending() const;
  // The place of this instance in the list; nullopt before the first list.
  std::optional<std::size_t> place() const { return place_in(in_effect_); }
  std::optional<std::size_t> place_in(const std::vector<Member>& list) const;
  bool trusted() const { return answers_ && !in_effect_.empty() && due_ == Instant::max() && !implausible_; }
  // When the source last returned a list.
  Instant reported_at() const { return reported_at_; }

 private:
  enum class Change { none, joined, left, shrunk, impossible };
  Change change() const;

  const std::string self_;
  const Debounce debounce_;
  std::vector<Member> in_effect_;  // sorted by node, like all lists here
  std::vector<Member> reported_;
  Instant reported_at_{};
  Instant unchanged_since_{};  // since when reported_ has been this list
  Instant differs_since_{};    // since when reported_ has differed from in_effect_
  bool differs_ = false;
  Instant due_ = Instant::max();
  bool answers_ = false;
  bool implausible_ = false;  // the last report is not plausible
};

}  // namespace easyretry::cluster
