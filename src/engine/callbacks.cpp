#include "engine/callbacks.h"

#include "policy/decide.h"

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

const Backoff kBackoff = Exponential{.first = 1s, .cap = 15min, .jitter = 1s};

bool asks_for_too_much(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const detail::UndecodableResult&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

Millis callback_delay(Context& context, int tries) {
  return policy::next_delay(kBackoff, tries, Millis{0}, context.random.unit());
}

CallbackFailure note_callback_failure(Context& context, const TaskInfo& task) {
  Counters::add(context.counters.callback_failures);
  std::string text = message_of(std::current_exception());
  const std::string who = task.id == TaskId{} ? "a call" : "task " + to_string(task.id);
  context.log(LogLevel::warning, who + " (" + task.handler + "): a callback threw: " + text);
  if (context.events.heard()) context.events.tell({EventKind::callback_failed, context.store_now(), task, text});
  return {std::move(text), asks_for_too_much(std::current_exception())};
}

}  // namespace easyretry::engine
