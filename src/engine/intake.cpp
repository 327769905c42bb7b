#include "engine/intake.h"

#include <algorithm>

namespace easyretry::engine {
namespace {

constexpr Millis kBetweenNews{5};

}  // namespace

Intake::Intake(Context& context, const storage::StoreInfo& store, Taken taken)
    : context_(context), has_inbox_(store.inbox), taken_(std::move(taken)) {}

void Intake::look_soon() {
  news_ = true;
  bell.ring();
}

Step Intake::step() {
  if (!wanted()) return {};
  const Instant now = context_.clock.steady();
  const Instant due = news_ ? std::min(earliest_, next_) : next_;
  if (now < due) return {false, due};
  news_ = false;
  const std::vector<std::string> handlers = known_handlers();
  const auto reply = context_.ask(StoreVerb::take_in, [&](storage::Store& store) {
    return store.take_in({context_.options.space, handlers, context_.options.batch}, convert_);
  });
  if (!reply) {
    next_ = context_.clock.steady() + pause_after_failures(failures_++, context_.random);
    earliest_ = next_;
    return {false, next_};
  }
  failures_ = 0;
  taken_(reply->tasks, reply->inserted);
  for (const std::string& why : reply->refused) {
    context_.log(LogLevel::warning, "a row of retry_inbox was refused, and stays there: " + why);
  }
  if (reply->more) return Step::again();
  earliest_ = now + kBetweenNews;
  if (!reply->tasks.empty()) polling_.found(now);
  next_ = now + pause(now);
  return {!reply->tasks.empty(), next_};
}

std::vector<std::string> Intake::known_handlers() const {
  std::vector<std::string> names;
  for (const auto& [name, number] : context_.handlers.snapshot()->by_name) names.push_back(name);
  return names;
}

Instant::duration Intake::pause(Instant now) const {
  const Instant::duration usual = context_.options.window;
  return has_news_ ? usual : std::min(usual, polling_.pause(now, context_.options.poll));
}

}  // namespace easyretry::engine
