// The wheel beside a model, whatever is done to it.

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "unit/engine/wheel_tasks.h"

namespace easyretry::engine {
namespace {

// One thing done to the wheel and to its model.
struct Step {
  enum class Kind { schedule, pass, jump, remove } kind;
  int amount;

  friend std::ostream& operator<<(std::ostream& out, const Step& step) {
    constexpr std::array kNames{"schedule at +", "pass ", "jump ", "remove modulo "};
    return out << kNames.at(static_cast<std::size_t>(step.kind)) << step.amount;
  }
};

rc::Gen<Step> step_of(Step::Kind kind, int least, int most) {
  return rc::gen::map(rc::gen::inRange(least, most + 1), [kind](int amount) { return Step{kind, amount}; });
}

rc::Gen<Step> any_step(int reach) {
  using enum Step::Kind;
  return rc::gen::weightedOneOf<Step>({
      {60, step_of(schedule, 0, reach)},
      {8, step_of(schedule, -2 * reach, 2 * reach)},
      {12, step_of(pass, 0, 70)},
      {8, step_of(pass, 0, reach)},
      {4, step_of(jump, -5, 5)},
      {2, step_of(jump, -3 * reach, 3 * reach)},
      {1, step_of(jump, -7'200'000, 7'200'000)},
      {2, step_of(remove, 2, 5)},
  });
}

// The wheel beside a std::multimap; after every step both must be alike.
class Comparison {
 public:
  explicit Comparison(Millis reach) : reach_(reach), wheel_(kStart, reach) {}

  void run(const Step& step) {
    using enum Step::Kind;
    if (step.kind == schedule) add(now_ + Millis{step.amount});
    if (step.kind == pass || step.kind == jump) take_at(now_ + Millis{step.amount});
    if (step.kind == remove) remove_every(step.amount);
    RC_ASSERT(wheel_.size() == model_.size());
    RC_ASSERT(wheel_.next_due() == (model_.empty() ? TimePoint::max() : model_.begin()->first));
  }

  // Goes from one due time to the next, as the Claimer does.
  void run_dry() {
    while (wheel_.size() > 0) take_at(std::max(now_, wheel_.next_due()));
    RC_ASSERT(model_.empty());
  }

 private:
  void add(TimePoint due) {
    const bool within_reach = due <= now_ + reach_;
    RC_ASSERT(wheel_.schedule(task(next_id_, due)) == within_reach);
    if (within_reach) model_.emplace(due, next_id_);
    ++next_id_;
  }

  void take_at(TimePoint now) {
    now_ = now;
    std::vector<std::pair<TimePoint, int>> taken;
    for (const DueTask& each : take(wheel_, now)) taken.emplace_back(each.due, static_cast<int>(each.id));
    RC_ASSERT(std::ranges::is_sorted(taken, {}, &std::pair<TimePoint, int>::first));
    std::ranges::sort(taken);  // within a millisecond
    const auto end = model_.upper_bound(now);
    RC_ASSERT(taken == (std::vector<std::pair<TimePoint, int>>{model_.begin(), end}));
    model_.erase(model_.begin(), end);
  }

  void remove_every(int modulus) {
    wheel_.remove_if([&](const DueTask& each) { return static_cast<int>(each.id) % modulus == 0; });
    std::erase_if(model_, [&](const auto& each) { return each.second % modulus == 0; });
  }

  Millis reach_;
  Wheel wheel_;
  std::multimap<TimePoint, int> model_;  // equal keys stay in the order of their ids
  TimePoint now_ = kStart;
  int next_id_ = 0;
};

RC_GTEST_PROP(Wheel, BehavesLikeASortedMapWhateverTheClockDoes, ()) {
  const int reach = *rc::gen::element(1, 63, 64, 65, 100, 300, 5'000);
  Comparison comparison{Millis{reach}};
  const auto steps = *rc::gen::resize(2'000, rc::gen::container<std::vector<Step>>(any_step(reach)));
  for (const Step& step : steps) comparison.run(step);
  comparison.run_dry();
}

}  // namespace
}  // namespace easyretry::engine
