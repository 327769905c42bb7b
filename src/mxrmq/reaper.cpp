#include "mxrmq/reaper.h"

#include "mxrmq/next_step.h"

namespace easyretry::mxrmq {
namespace {

// Each is looked for in the lists of its topic, which may be long.
constexpr std::size_t kAtOnce = 20;

}  // namespace

Reaper::Round Reaper::reap() {
  const std::string token = options_.worker + "-reaper-" + std::to_string(++rounds_);
  const Reaping found = mxrmq::reap(link_, token, options_.lease, kAtOnce);
  Round round{.more = found.messages.size() == kAtOnce};
  for (const Reaped& each : found.messages) {
    if (settle(link_, {second_step(each, found.now)}).front()) ++round.settled;
  }
  return round;
}

Outcome Reaper::second_step(const Reaped& reaped, std::int64_t now) const {
  const auto& [hold, json] = reaped.taken;
  const std::string& topic = reaped.topic;
  try {
    const Message message = parse_message(json);
    const NextStep next =
        reaped.old ? after_ageing(message.meta, now) : after_loss(message.meta, reaped.lost, options_.max_lost, now);
    return {.kind = next.retry_after ? Outcome::Kind::retried : Outcome::Kind::dead,
            .topic = topic,
            .hold = hold,
            .delay = next.retry_after.value_or(Millis{0}),
            .json = rewritten(json, next.meta)};
  } catch (const MessageError& why) {
    return {.kind = Outcome::Kind::unreadable,
            .topic = topic,
            .hold = hold,
            .json = parse_error_record(hold.id, json, topic, why.what(), now)};
  }
}

}  // namespace easyretry::mxrmq
