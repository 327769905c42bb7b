#include "cluster/members.h"

#include <algorithm>
#include <chrono>

namespace easyretry::cluster {
namespace {

using namespace std::chrono_literals;

// A list that keeps changing takes effect after this long anyway.
constexpr auto kLongestDelay = 30s;

void sort_by_node(std::vector<Member>& list) {
  std::ranges::stable_sort(list, {}, &Member::node);
  const auto same = [](const Member& a, const Member& b) { return a.node == b.node; };
  list.erase(std::unique(list.begin(), list.end(), same), list.end());
}

bool has(const std::vector<Member>& list, const std::string& node) {
  return std::ranges::binary_search(list, node, {}, &Member::node);
}

bool same_nodes(const std::vector<Member>& a, const std::vector<Member>& b) {
  return std::ranges::equal(a, b, {}, &Member::node, &Member::node);
}

std::size_t staying(const std::vector<Member>& before, const std::vector<Member>& now) {
  return static_cast<std::size_t>(
      std::ranges::count_if(before, [&](const Member& member) { return has(now, member.node); }));
}

}  // namespace

void Members::report(std::vector<Member> list, Instant now) {
  sort_by_node(list);
  if (!same_nodes(list, reported_)) unchanged_since_ = now;
  reported_ = std::move(list);
  reported_at_ = now;
  answers_ = true;
  const bool differs = !same_nodes(reported_, in_effect_);
  if (differs && !differs_) differs_since_ = now;
  differs_ = differs;
}

auto Members::change() const -> Change {
  if (!differs_) return Change::none;
  if (!has(reported_, self_)) return Change::impossible;
  const std::size_t stay = staying(in_effect_, reported_);
  if (2 * stay < in_effect_.size()) return Change::shrunk;
  return stay < in_effect_.size() ? Change::left : Change::joined;
}

bool Members::apply(Instant now) {
  const Change what = change();
  implausible_ = what == Change::impossible || what == Change::shrunk;
  due_ = Instant::max();
  if (what == Change::none && reported_ != in_effect_) in_effect_ = reported_;  // a change of `since`, for example
  if (what == Change::none || what == Change::impossible) return false;

  const Millis delay = what == Change::joined ? debounce_.joins
                       : what == Change::left ? debounce_.leaves
                                              : debounce_.shrinking;
  const bool first = in_effect_.empty();
  const Instant due = first ? now : std::min(unchanged_since_ + delay, differs_since_ + kLongestDelay);
  if (now < due) {
    due_ = due;
    return false;
  }
  in_effect_ = reported_;
  differs_ = false;
  implausible_ = false;
  return true;
}

const std::vector<Member>* Members::pending() const {
  const Change what = change();
  return what == Change::joined || what == Change::left ? &reported_ : nullptr;
}

std::optional<std::size_t> Members::place_in(const std::vector<Member>& list) const {
  const auto found = std::ranges::lower_bound(list, self_, {}, &Member::node);
  if (found == list.end() || found->node != self_) return std::nullopt;
  return static_cast<std::size_t>(found - list.begin());
}

}  // namespace easyretry::cluster
