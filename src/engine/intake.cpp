#include "engine/intake.h"

namespace easyretry::engine {
namespace {

constexpr Millis kBetweenLooks{5};

}  // namespace

Intake::Intake(Context& context, const storage::StoreInfo& store, Taken taken)
    : context_(context), has_inbox_(store.inbox), taken_(std::move(taken)) {}

void Intake::look_soon() {
  told_ = true;
  wakeup.notify();
}

Step Intake::step() {
  if (!wanted() || !told_) return {};
  const Instant now = context_.clock.steady();
  if (now < earliest_) return {false, earliest_};
  told_ = false;
  const std::vector<std::string> handlers = context_.handlers.snapshot()->names();
  const auto reply = context_.ask(StoreVerb::take_in, [&](storage::Store& store) {
    return store.take_in({context_.options.name_space, handlers, context_.live.batch.load()}, convert_);
  });
  if (!reply) {
    told_ = true;
    earliest_ = context_.clock.steady() + pause_after_failures(failures_++, context_.random);
    return {false, earliest_};
  }
  failures_ = 0;
  if (!reply->tasks.empty()) taken_(reply->tasks, reply->inserted);
  for (const std::string& why : reply->refused) {
    context_.log(LogLevel::warning, "a row of retry_inbox was refused, and stays there: " + why);
  }
  if (reply->more) {
    told_ = true;
    return Step::again();
  }
  earliest_ = now + kBetweenLooks;
  return {!reply->tasks.empty(), told_ ? earliest_ : Instant::max()};
}

}  // namespace easyretry::engine
