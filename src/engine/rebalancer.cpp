#include "engine/rebalancer.h"

#include <algorithm>
#include <utility>

#include "cluster/shard_map.h"

namespace easyretry::engine {
namespace {

constexpr auto kAfterFailure = std::chrono::seconds{1};

std::vector<std::string> nodes_of(const std::vector<Member>& members) {
  std::vector<std::string> nodes;
  nodes.reserve(members.size());
  for (const Member& member : members) nodes.push_back(member.node);
  return nodes;
}

std::vector<std::string> missing(const std::vector<std::string>& from, const std::vector<std::string>& in) {
  std::vector<std::string> some;
  std::set_difference(from.begin(), from.end(), in.begin(), in.end(), std::back_inserter(some));
  return some;
}

// Where deaths are noticed sooner, lists count sooner.
cluster::Patience patience(const cluster::Membership::Traits& traits) {
  cluster::Patience patience;
  patience.joins = std::min(patience.joins, traits.notices_death / 10);
  patience.leaves = std::min(patience.leaves, traits.notices_death / 5);
  patience.shrinking = std::min(patience.shrinking, traits.notices_death / 2);
  return patience;
}

}  // namespace

Rebalancer::Rebalancer(Context& context, std::unique_ptr<cluster::Membership> membership, int total_shards, Own own)
    : context_(context),
      membership_(std::move(membership)),
      total_shards_(total_shards),
      own_(std::move(own)),
      members_(membership_ ? cluster::Members{membership_->traits().self, patience(membership_->traits())}
                           : cluster::Members{context.owner}),
      shards_(cluster::shards_of(0, 1, total_shards, context.options.assignment)) {}

void Rebalancer::begin() {
  if (!wanted()) return;
  membership_->listen([this] {
    next_refresh_now_ = true;
    bell.ring();
  });
  if (context_.options.at_start == AtStart::alone) return;
  {
    const std::lock_guard lock{mutex_};
    shards_.clear();
  }
  own_({});
}

Step Rebalancer::step() {
  if (!wanted()) return {};
  const Instant now = context_.clock.steady();
  if (now >= next_refresh_ || next_refresh_now_.exchange(false)) refresh(now);
  std::vector<Member> before;
  std::vector<ShardId> shards;
  bool changed = false;
  Instant next = Instant::max();
  {
    const std::lock_guard lock{mutex_};
    before = members_.list();
    changed = members_.settle(context_.clock.steady());
    next = members_.next();
    if (changed) shards = shards_ = shards_now();
  }
  if (changed) {
    own_(std::move(shards));
    tell_changes(before);
  }
  return {true, std::min(next_refresh_, next)};
}

void Rebalancer::refresh(Instant now) {
  auto roll = membership_->refresh(cluster::described(view().shards));
  const bool answered = roll.has_value();
  if (answered == complained_) {
    complained_ = !answered;
    context_.log(answered ? LogLevel::info : LogLevel::warning,
                 answered ? "the list of members is there again"
                          : "no list of members from " + membership_->traits().source + ": " + roll.error().detail +
                                "; this instance goes on with its shards");
  }
  next_refresh_ = now + (answered ? Instant::duration{membership_->traits().refresh} : kAfterFailure);
  if (answered) tell_refused(std::move(roll->refused));
  const std::lock_guard lock{mutex_};
  if (answered) {
    members_.heard(std::move(roll->members), context_.clock.steady());
  } else {
    members_.missed();
  }
}

// Each once, for as long as it is there.
void Rebalancer::tell_refused(std::vector<cluster::Refused> refused) {
  std::sort(refused.begin(), refused.end());
  for (const cluster::Refused& one : refused) {
    if (std::binary_search(refused_.begin(), refused_.end(), one)) continue;
    const std::string message = one.who + " is not taken for a member: " + one.why;
    context_.log(LogLevel::warning, message);
    tell(EventKind::member_refused, message);
  }
  refused_ = std::move(refused);
}

std::vector<ShardId> Rebalancer::shards_now() const {
  return cluster::shards_of(*members_.place(), members_.list().size(), total_shards_, context_.options.assignment);
}

void Rebalancer::tell_changes(const std::vector<Member>& before) {
  const ClusterView now = view();
  const std::string share = std::to_string(now.members.size()) + " members; this one looks after " +
                            std::to_string(now.shards.size()) + " of " + std::to_string(total_shards_) + " shards";
  context_.log(LogLevel::info, share);
  const auto was = nodes_of(before);
  const auto is = nodes_of(now.members);
  for (const std::string& node : missing(is, was)) tell(EventKind::member_joined, node);
  for (const std::string& node : missing(was, is)) tell(EventKind::member_left, node);
  tell(EventKind::shards_changed, share);
}

void Rebalancer::tell(EventKind kind, const std::string& message) {
  if (!context_.events.heard()) return;
  context_.events.tell({.kind = kind, .at = context_.store_now(), .message = message});
}

void Rebalancer::leave() {
  if (wanted()) membership_->leave();
}

ClusterView Rebalancer::view() const {
  const std::lock_guard lock{mutex_};
  if (!wanted()) {
    return {.members = {{.node = context_.owner}},
            .self = context_.owner,
            .shards = shards_,
            .source = "alone",
            .trusted = true};
  }
  const bool heard = members_.heard_at() != Instant{};
  return {.members = members_.list(),
          .self = membership_->traits().self,
          .shards = shards_,
          .source = membership_->traits().source,
          .trusted = members_.trusted(),
          .age = heard ? std::chrono::duration_cast<Millis>(context_.clock.steady() - members_.heard_at()) : Millis{}};
}

}  // namespace easyretry::engine
