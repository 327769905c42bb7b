#include "cluster/members.h"

#include <algorithm>
#include <chrono>

namespace easyretry::cluster {
namespace {

using namespace std::chrono_literals;

// A list that keeps changing takes effect after this long anyway.
constexpr auto kLongest = 30s;

void in_order(std::vector<Member>& list) {
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

void Members::heard(std::vector<Member> list, Instant now) {
  in_order(list);
  if (!same_nodes(list, heard_)) same_since_ = now;
  heard_ = std::move(list);
  heard_at_ = now;
  answers_ = true;
  const bool differs = !same_nodes(heard_, counting_);
  if (differs && !differs_) differs_since_ = now;
  differs_ = differs;
}

auto Members::change() const -> Change {
  if (!differs_) return Change::none;
  if (!has(heard_, self_)) return Change::impossible;
  const std::size_t stay = staying(counting_, heard_);
  if (2 * stay < counting_.size()) return Change::shrunk;
  return stay < counting_.size() ? Change::left : Change::joined;
}

bool Members::settle(Instant now) {
  const Change what = change();
  doubtful_ = what == Change::impossible || what == Change::shrunk;
  due_ = Instant::max();
  if (what == Change::none && heard_ != counting_) counting_ = heard_;  // a change of `since`, for example
  if (what == Change::none || what == Change::impossible) return false;

  const Millis rest = what == Change::joined ? patience_.joins
                      : what == Change::left ? patience_.leaves
                                             : patience_.shrinking;
  const bool first = counting_.empty();
  const Instant due = first ? now : std::min(same_since_ + rest, differs_since_ + kLongest);
  if (now < due) {
    due_ = due;
    return false;
  }
  counting_ = heard_;
  differs_ = false;
  doubtful_ = false;
  return true;
}

const std::vector<Member>* Members::waiting() const {
  const Change what = change();
  return what == Change::joined || what == Change::left ? &heard_ : nullptr;
}

std::optional<std::size_t> Members::place_in(const std::vector<Member>& list) const {
  const auto found = std::ranges::lower_bound(list, self_, {}, &Member::node);
  if (found == list.end() || found->node != self_) return std::nullopt;
  return static_cast<std::size_t>(found - list.begin());
}

}  // namespace easyretry::cluster
