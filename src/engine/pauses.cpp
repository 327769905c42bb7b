#include "engine/pauses.h"

#include "engine/context.h"
#include "engine/schedule.h"

namespace easyretry::engine {
namespace {

constexpr auto kAskEvery = std::chrono::seconds{1};

}  // namespace

void PauseWatch::look_now() {
  now_ = true;
  context_.pauses.wakeup.notify();
}

Step PauseWatch::step() {
  KnownPauses& pauses = context_.pauses;
  const Instant now = context_.clock.steady();
  const bool at_once = now_.exchange(false);
  // After a failure the last answer counts for claims: that must not last until the next claim.
  const bool needed = pauses.wanted() || pauses.any() || schedule_.held() > 0 || failures_ > 0;
  if (!at_once && !needed) return {};
  if (!at_once && now < next_) return {false, next_};
  pauses.asked();
  const auto reply =
      context_.ask(StoreVerb::paused, [&](storage::Store& store) { return store.paused(context_.options.space); });
  if (reply) {
    failures_ = 0;
    next_ = now + kAskEvery;
    heard(*reply, now);
  } else {
    next_ = context_.clock.steady() + pause_after_failures(failures_++, context_.random);
    pauses.store_did_not_answer();
  }
  context_.claiming.notify();
  return {true, next_};
}

void PauseWatch::heard(const storage::PausedReply& reply, Instant asked) {
  KnownPauses::Names names;
  for (const PausedHandler& paused : reply.handlers) names.insert(paused.handler);
  const bool changed = names != *context_.pauses.snapshot();
  context_.pauses.learn(std::move(names), asked);
  if (changed) changed_();
}

}  // namespace easyretry::engine
