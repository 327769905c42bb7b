#include "mxrmq/keeper.h"

#include <algorithm>

namespace easyretry::mxrmq {
namespace {

ReaperOptions reaper_options(const KeeperOptions& options) {
  ReaperOptions reaper{.worker = options.worker, .max_lost = options.timing.max_lost};
  reaper.lease = std::min(reaper.lease, options.timing.lease);
  return reaper;
}

}  // namespace

Keeper::Keeper(Link& link, Holdings& holdings, Tally& tally, KeeperOptions options)
    : link_(link),
      holdings_(holdings),
      tally_(tally),
      options_(std::move(options)),
      reaper_(link, reaper_options(options_)),
      complaints_(options_.timing.log),
      thread_([this] { run(); }) {}

Keeper::~Keeper() {
  {
    const std::lock_guard lock{mutex_};
    stopping_ = true;
  }
  changed_.notify_all();
}

void Keeper::run() {
  const Millis renewal = std::max(options_.timing.lease / 3, Millis{1});
  auto next_renewal = Steady::now() + renewal;
  auto next_reaping = Steady::now();
  while (true) {
    Millis pause = options_.timing.poll;
    guarded("delayed messages", [&] { pause = promote(); });
    if (Steady::now() >= next_renewal) {
      guarded("leases", [this] { renew(); });
      next_renewal = Steady::now() + renewal;
    }
    if (Steady::now() >= next_reaping) {
      Millis rest = options_.timing.reap;
      guarded("messages of dead workers", [&] { rest = reap(); });
      next_reaping = Steady::now() + rest;
    }
    const auto until = std::min({Steady::now() + pause, next_renewal, next_reaping});
    std::unique_lock lock{mutex_};
    if (changed_.wait_until(lock, until, [this] { return stopping_; })) return;
  }
}

template <class Work>
void Keeper::guarded(const std::string& what, Work work) {
  const std::string trouble = what + " cannot be processed";
  try {
    work();
    complaints_.worked(trouble);
  } catch (const ServerError& error) {
    complaints_.failed(trouble, error.what());
  }
}

void Keeper::renew() {
  const std::vector<Holdings::Held> held = holdings_.all();
  for (std::size_t from = 0; from < held.size(); from += kMessagesACall) {
    std::vector<Hold> some;
    for (std::size_t i = from; i < std::min(held.size(), from + kMessagesACall); ++i) some.push_back(held[i].hold);
    const std::vector<bool> kept = heartbeat(link_, options_.timing.lease, some);
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (!kept[i]) holdings_.lost(some[i]);
    }
  }
}

Millis Keeper::promote() {
  const Promotion found = mxrmq::promote(link_);
  return found.next < 0 ? options_.timing.poll : std::min(options_.timing.poll, Millis{found.next});
}

Millis Keeper::reap() {
  for (const std::string& topic : options_.topics) reaper_.adopt(topic);
  const Reaper::Round round = reaper_.reap();
  tally_.rescued += round.settled;
  return round.more ? Millis{0} : options_.timing.reap;
}

}  // namespace easyretry::mxrmq
