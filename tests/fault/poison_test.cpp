// Tasks that kill the process that runs them, among many that do no harm: only they are quarantined.

#include <iostream>
#include <map>

#include <gmock/gmock.h>

#include "fault/each_store.h"
#include "fault/verdict.h"
#include "fault/work.h"
#include "storage/open.h"

namespace easyretry::fault {
namespace {

constexpr int kTasks = 2000;
constexpr int kMostLives = 40;
constexpr int kMaxCrashes = 3;

class PoisonTasks : public OnEachStore {
 protected:
  void submit() const {
    Engine engine{url(), {.log = nullptr}};
    auto work = engine.retryable(
        "work", [](int) { return done(); }, policy_of_work());
    std::vector<int> numbers(kTasks);
    for (int i = 0; i < kTasks; ++i) numbers[static_cast<std::size_t>(i)] = i;
    work.submit_many(numbers, [](int number) { return SubmitOptions{.key = key_of(number)}; });
  }

  // One process after the other, until one finds nothing left to do.
  static void run_until_done(Crew& crew) {
    while (!crew.wait(crew.start(0))) ASSERT_LT(crew.lives(), kMostLives) << "it never ends";
  }

  static std::vector<task::TaskRecord> quarantined(storage::Store& store) {
    return store.list({.finished = true, .outcome = Outcome::quarantined, .limit = kTasks}).value();
  }

  // How often each task was begun and not brought to an end.
  static std::map<std::string, int> cut_off(Crew& crew) {
    std::map<std::string, int> begun;
    for (const JournalEvent& event : crew.events()) {
      if (event.what == "start") ++begun[event.subject];
      if (event.what == "end") --begun[event.subject];
    }
    return begun;
  }
};
ON_EACH_STORE(PoisonTasks);

TEST_P(PoisonTasks, AreQuarantinedAndTheOthersAreNot) {
  submit();
  const std::string max_crashes = std::to_string(kMaxCrashes);
  Crew crew{url(), {{"POISON", "333,1234"}, {"EASYRETRY_MAX_CRASHES", max_crashes}}};
  ASSERT_NO_FATAL_FAILURE(run_until_done(crew));

  const auto store = storage::open_store(url(), system_clock());
  std::vector<std::string> keys;
  auto begun = cut_off(crew);
  for (const task::TaskRecord& record : quarantined(*store)) {
    keys.push_back(record.info.key);
    EXPECT_GE(begun[to_string(record.info.id)], kMaxCrashes)
        << record.info.key << " was not running in each of its crashes";
  }
  EXPECT_THAT(keys, ::testing::UnorderedElementsAre(key_of(333), key_of(1234)));
  EXPECT_TRUE(all_done(*store));
  // Each kills its worker three times, and once before it is known which of the claimed tasks it was.
  EXPECT_LE(crew.deaths().size(), 2U * (kMaxCrashes + 1));
  std::cout << crew.deaths().size() << " processes killed\n";
}

}  // namespace
}  // namespace easyretry::fault
