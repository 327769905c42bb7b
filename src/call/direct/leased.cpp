#include <utility>

#include "call/direct/strategies.h"
#include "engine/attempt.h"

namespace easyretry::call {
namespace {

using task::Settlement;

detail::DirectResult result_of(const OneCall& call, const Settlement& settlement, TaskId id) {
  if (settlement.kind == Settlement::Kind::retry || settlement.kind == Settlement::Kind::hand_back) {
    return call.stored(id, settlement.error);
  }
  return settlement.outcome == Outcome::succeeded ? OneCall::succeeded() : OneCall::failed(settlement.error);
}

}  // namespace

detail::DirectResult leased(OneCall& call) {
  const engine::Started started = call.start();
  if (!started.run) return call.stored(started.id, "a task with this key is live; it was not run again");
  started.run->direct = &call.direct;
  started.run->started = call.context().clock.steady();
  Settlement settlement = engine::attempt(*started.run, call.context());
  started.run->direct = nullptr;
  detail::DirectResult result = result_of(call, settlement, started.id);
  call.core.settle_started(started.run, std::move(settlement));
  return result;
}

}  // namespace easyretry::call
