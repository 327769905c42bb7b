#include "remote/leaser.h"

#include <algorithm>

namespace easyretry::remote {
namespace {

// A handler that is registered while one waits is served after this.
constexpr Millis kWait{5000};
constexpr Millis kLookAgain{1000};  // for handlers, where there are none, or no room
constexpr std::size_t kMostAtATime = 200;

}  // namespace

engine::Step Leaser::step() {
  const LeaseWish wanted = wish();
  // Workers wake us up when there is room again.
  if (wanted.handlers.empty()) return {false, context_.clock.steady() + kLookAgain};
  const Instant sent = context_.clock.steady();
  auto reply = store_.lease(wanted, stop_.get_token());
  if (!reply && stop_.stop_requested()) return {};
  if (!reply) {
    context_.note(reply.error());
    return pause();
  }
  // A daemon that is about to stop lets nobody wait.
  const bool sent_away = reply->tasks.empty() && context_.clock.steady() - sent < kWait / 2;
  deliver(*std::move(reply), sent);
  if (sent_away) return pause();
  failures_ = 0;
  return engine::Step::again();
}

engine::Step Leaser::pause() {
  return {false, context_.clock.steady() + engine::pause_after_failures(failures_++, context_.random)};
}

// As many as the one with the least room may have: which of them come is not known before.
LeaseWish Leaser::wish() {
  LeaseWish wish{.most = kMostAtATime, .wait = kWait, .lease = context_.options.lease};
  const auto table = context_.handlers.snapshot();
  for (std::size_t i = 0; i < table->by_number.size(); ++i) {
    const auto no = static_cast<engine::HandlerNo>(i);
    const std::size_t room = workers_.room(no, table->concurrency(no, workers_.size()), 0);
    if (room == 0) continue;
    const detail::Handler& handler = table->by_number[i]->handler;
    wish.handlers.push_back(handler.name);
    if (handler.on_final_failure) wish.tells.push_back(handler.name);
    wish.most = std::min(wish.most, room);
  }
  return wish;
}

// The request may have waited for as long as a lease: what counts is when the daemon says that it ends.
void Leaser::deliver(LeaseReply reply, Instant sent) {
  context_.store_time.observe(reply.now, sent, context_.clock.steady());
  engine::Counters::add(context_.counters.claimed, reply.tasks.size());
  const Millis lease = context_.options.lease;
  dispatcher_.dispatch(std::move(reply.tasks), [&](const task::TaskRecord& record) {
    return engine::trust(context_.store_time.when(record.lease_until - lease), lease);
  });
}

}  // namespace easyretry::remote
