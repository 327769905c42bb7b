#include "engine/rebalancer.h"

#include <algorithm>
#include <utility>

namespace easyretry::engine {
namespace {

constexpr auto kAskAgainAfter = std::chrono::seconds{1};
// If the list changes again and again, only the last few versions matter.
constexpr std::size_t kMostFormer = 3;

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

// If deaths are noticed sooner, new lists count sooner.
cluster::Debounce debounce(const cluster::Membership::Traits& traits) {
  cluster::Debounce debounce;
  debounce.joins = std::min(debounce.joins, traits.death_timeout / 10);
  debounce.leaves = std::min(debounce.leaves, traits.death_timeout / 5);
  debounce.shrinking = std::min(debounce.shrinking, traits.death_timeout / 2);
  return debounce;
}

// The time after which every member has seen a change and acts on it.
Instant::duration handover(const cluster::Membership* membership) {
  if (membership == nullptr) return {};
  return membership->traits().refresh + debounce(membership->traits()).shrinking;
}

cluster::Shares everything(int total_shards) {
  return {.rest = cluster::shards_of(0, 1, {total_shards})};
}

}  // namespace

Rebalancer::Rebalancer(Context& context, std::unique_ptr<cluster::Membership> membership, int total_shards, Own own)
    : context_(context),
      membership_(std::move(membership)),
      division_{total_shards, context.options.assignment, context.store.info().earlier_shards},
      own_(std::move(own)),
      handover_(handover(membership_.get())),
      members_(membership_ ? cluster::Members{membership_->traits().self, debounce(membership_->traits())}
                           : cluster::Members{context.owner}),
      shares_(everything(total_shards)) {}

void Rebalancer::begin() {
  if (!wanted()) return;
  membership_->listen([this] { handlers_changed(); });
  if (context_.options.at_start == AtStart::alone) return;
  {
    const std::lock_guard lock{mutex_};
    shares_ = {};
  }
  own_(Ownership{std::vector<ShardId>{}});
}

void Rebalancer::handlers_changed() {
  next_refresh_now_ = true;
  wakeup.notify();
}

Step Rebalancer::step() {
  if (!wanted()) return {};
  const Instant now = context_.clock.steady();
  if (next_refresh_now_.exchange(false) || now >= next_refresh_) refresh(now);
  std::vector<Member> before;
  std::optional<Ownership> owned;
  bool changed = false;
  Instant next = Instant::max();
  {
    const std::lock_guard lock{mutex_};
    before = members_.list();
    changed = members_.apply(context_.clock.steady());
    owned = divide(context_.clock.steady(), before.empty());
    next = members_.next();
    for (const Former& former : former_) next = std::min(next, former.until);
  }
  if (owned) own_(*std::move(owned));
  if (changed) tell_changes(before);
  return {true, std::min(next_refresh_, next)};
}

std::optional<Ownership> Rebalancer::divide(Instant now, bool first) {
  if (!members_.place()) return std::nullopt;
  const std::size_t ended = std::erase_if(former_, [&](const Former& former) { return former.until <= now; });
  const std::vector<Member>* const waiting = members_.pending();
  Basis basis{members_.list(), waiting != nullptr ? *waiting : std::vector<Member>{},
              context_.handlers.snapshot()->run_here()};
  if (basis == basis_ && ended == 0) return std::nullopt;
  cluster::Shares shares = shares_in(basis.counting, basis.handlers);
  if (shares != shares_ && !first) {
    if (former_.size() == kMostFormer) former_.erase(former_.begin());
    former_.push_back({std::move(shares_), now + handover_});
  }
  shares_ = std::move(shares);
  std::vector<cluster::Shares> others;
  for (const Former& former : former_) others.push_back(former.shares);
  if (waiting != nullptr) others.push_back(shares_in(basis.waiting, basis.handlers));
  basis_ = std::move(basis);
  return Ownership{shares_, std::move(others)};
}

// We know better than a list which handlers we run ourselves.
cluster::Shares Rebalancer::shares_in(std::vector<Member> list, const std::vector<std::string>& handlers) const {
  const std::size_t self = *members_.place_in(list);
  list[self].handlers = handlers;
  return cluster::shares_of(list, self, division_);
}

void Rebalancer::refresh(Instant now) {
  auto roll = membership_->refresh({cluster::described(view().shards), context_.handlers.snapshot()->run_here()});
  const bool answered = roll.has_value();
  if (answered == complained_) {
    complained_ = !answered;
    context_.log(answered ? LogLevel::info : LogLevel::warning,
                 answered ? "the list of members is available again"
                          : "no list of members from " + membership_->traits().source + ": " + roll.error().detail +
                                "; this instance keeps its shards");
  }
  next_refresh_ = now + (answered ? Instant::duration{membership_->traits().refresh} : kAskAgainAfter);
  if (answered) {
    tell_refused(std::move(roll->refused));
    say_once_that_handlers_do_not_fit(roll->handlers_left_out);
  }
  const std::lock_guard lock{mutex_};
  if (answered) {
    members_.report(std::move(roll->members), context_.clock.steady());
  } else {
    members_.report_failure();
  }
}

void Rebalancer::say_once_that_handlers_do_not_fit(bool left_out) {
  if (left_out && !left_out_) {
    context_.log(LogLevel::warning,
                 "the names of this instance's handlers are too long, taken together, to be sent to the other members; "
                 "they assume that it runs all handlers, and tasks of handlers that it lacks may be late by `grace`");
  }
  left_out_ = left_out;
}

// Reports each refused member once while it is in the list.
void Rebalancer::tell_refused(std::vector<cluster::RefusedMember> refused) {
  std::sort(refused.begin(), refused.end());
  for (const cluster::RefusedMember& one : refused) {
    if (std::binary_search(refused_.begin(), refused_.end(), one)) continue;
    const std::string message = one.who + " is not accepted as a member: " + one.why;
    context_.log(LogLevel::warning, message);
    tell(EventKind::member_refused, message);
  }
  refused_ = std::move(refused);
}

void Rebalancer::tell_changes(const std::vector<Member>& before) {
  const ClusterView now = view();
  const std::string share = std::to_string(now.members.size()) + " members; this one owns " +
                            std::to_string(now.shards.size()) + " of " + std::to_string(division_.total_shards) +
                            " shards";
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
    return {.members = {{.node = context_.owner, .handlers = context_.handlers.snapshot()->run_here()}},
            .self = context_.owner,
            .shards = shares_.all(),
            .source = "alone",
            .trusted = true};
  }
  const bool reported = members_.reported_at() != Instant{};
  return {.members = members_.list(),
          .self = membership_->traits().self,
          .shards = shares_.all(),
          .source = membership_->traits().source,
          .trusted = members_.trusted(),
          .age = reported ? std::chrono::duration_cast<Millis>(context_.clock.steady() - members_.reported_at())
                          : Millis{}};
}

}  // namespace easyretry::engine
