// Keys, texts, arguments and results that are unusual but allowed. Nothing is cut without a word, and no other
// tasks wait for them.

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include <gmock/gmock.h>

#include "base/utf8.h"
#include "fault/each_engine.h"
#include "support/eventually.h"

namespace easyretry::fault {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class UnusualInputs : public OnEachEngine {
 protected:
  TaskInfo ended(const Engine& engine, TaskId id) {
    EXPECT_TRUE(test::eventually([&] { return engine.find(id)->state == TaskState::finished; }, 60s));
    return engine.find(id).value();
  }
  // The error for a result of 20 MB that is not stored. MariaDB accepts 16 MiB by default (max_allowed_packet).
  static std::optional<std::string> too_large() {
    if (GetParam().daemon) return "a daemon accepts 8388608 bytes";
    if (GetParam().server == test::ServerKind::mariadb) return "raise max_allowed_packet on the server";
    return std::nullopt;
  }
};
ON_EACH_STORE_AND_DAEMON(UnusualInputs);

// A handler whose tasks are submitted one after the other, each when the last one has ended, until this is destroyed.
class OthersWork {
 public:
  explicit OthersWork(const Engine& engine, const Retryable<void, std::tuple<int>>& handler)
      : thread_([this, &engine, handler](const std::stop_token& stop) {
          for (int i = 0; !stop.stop_requested(); ++i) {
            const auto begin = std::chrono::steady_clock::now();
            const TaskId id = handler.submit(i);
            const bool done = test::eventually([&] { return engine.find(id)->state == TaskState::finished; });
            EXPECT_TRUE(done) << "others wait";
            longest_ =
                std::max<std::chrono::steady_clock::duration>(longest_, std::chrono::steady_clock::now() - begin);
            ++done_;
          }
        }) {}

  // Gives how many have ended.
  int end() {
    thread_.request_stop();
    thread_.join();
    return done_;
  }
  Millis longest() const { return std::chrono::duration_cast<Millis>(longest_); }

 private:
  int done_ = 0;
  std::chrono::steady_clock::duration longest_{};
  std::jthread thread_;
};

constexpr Millis kGenerous = 15s;  // for a task among others that are large; a lease that ends takes 30 s

TEST_P(UnusualInputs, KeysThatLookAlikeAreKeysOfTheirOwn) {
  const std::vector<std::string> keys{"pay",       "PAY",       "Pay",         "pay ",      "pay  ",
                                      " pay",      "pay\t",     "p\u00e1y",    "pa\u0301y", "\uff50\uff41\uff59",
                                      "pay\u00a0", "pay\u200b", "stra\u00dfe", "strasse",   "\u0131",
                                      "i",         "I",         "\u0130",      "\u212b",    "\u00c5",
                                      "A\u030a",   "pay%",      "pay_",        "pay\\",     "pay'"};
  const auto opened = open();
  Engine& engine = *opened;
  const auto pay = engine.retryable("pay", [](int) {});
  std::vector<TaskId> ids;
  for (const std::string& key : keys) ids.push_back(pay.with({.key = key}).submit(1));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    SCOPED_TRACE(keys[i]);
    EXPECT_EQ(pay.with({.key = keys[i]}).submit(1), ids[i]);
    const auto found = engine.list({.key = keys[i]});
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].id, ids[i]);
    EXPECT_EQ(found[0].key, keys[i]);
  }
  EXPECT_EQ(engine.list({}).size(), keys.size());

  // In history as well.
  engine.start();
  ASSERT_TRUE(test::eventually([&] { return none_left(engine); }));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto found = engine.list({.finished = true, .key = keys[i]});
    ASSERT_EQ(found.size(), 1U) << keys[i];
    EXPECT_EQ(found[0].id, ids[i]);
  }
}

TEST_P(UnusualInputs, AnErrorTextIsKeptAsFarAsItCanBeReadAndSaysIfItWasCut) {
  const std::string with_nul = std::string{"before\0after", 12} + "\xff\xc3(";
  const std::string long_text = std::string(3 << 20, 'x') + "the end";
  const auto opened = open();
  Engine& engine = *opened;
  std::mutex mutex;
  std::map<std::string, std::string> told;
  auto fails = engine.retryable("fails",
                                [&](const std::string& how) -> Answer {
                                  if (how == "answers") return retry_later(with_nul);
                                  if (how == "gives up") return give_up(long_text);
                                  throw std::runtime_error(how == "throws" ? long_text : "\xf0\x28\x8c\x28 not text");
                                },
                                {.backoff = Fixed{1ms}, .stop = {.max_attempts = 2}});
  fails.on_final_failure([&](const Failure& failure, const TaskInfo& task) {
    const std::lock_guard lock{mutex};
    told[task.key] = failure.message;
  });
  auto other = engine.retryable("other", [](int) {});
  engine.start();
  OthersWork others{engine, other};
  std::map<std::string, TaskInfo> tasks;
  for (const std::string how : {"answers", "gives up", "throws", "throws bytes"}) {
    tasks[how] = ended(engine, fails.with({.key = how}).submit(how));
  }
  EXPECT_GT(others.end(), 0);
  EXPECT_LE(others.longest(), kGenerous);
  for (const auto& [how, task] : tasks) {
    EXPECT_EQ(base::invalid_utf8(task.last_error), std::string::npos) << how;
  }
  EXPECT_THAT(tasks["answers"].last_error, StartsWith("before\ufffdafter\ufffd\ufffd("));
  EXPECT_THAT(tasks["throws bytes"].last_error, HasSubstr("\ufffd( not text"));
  for (const std::string how : {"gives up", "throws"}) {
    const std::string& kept = tasks[how].last_error;
    EXPECT_EQ(kept.size(), 4096U);
    EXPECT_THAT(kept, AllOf(StartsWith("xxxx"), HasSubstr(" bytes in total) … "), HasSubstr("the end")));
  }
  const std::lock_guard lock{mutex};
  EXPECT_EQ(told.size(), tasks.size());
}

TEST_P(UnusualInputs, ManyLargeArgumentsAreStoredInOneGoAndRunWholeWhileOthersGoOn) {
  constexpr int kLarge = 60;
  const auto opened = open();
  Engine& engine = *opened;
  std::atomic<int> whole{0};
  const auto text_of = [](int i) { return std::string(1'048'576 - 100, static_cast<char>('a' + i % 26)); };
  auto large = engine.retryable("large", [&](const std::string& text, int i) { whole += text == text_of(i) ? 1 : 0; });
  auto other = engine.retryable("other", [](int) {});
  engine.start();
  OthersWork others{engine, other};
  std::vector<std::tuple<std::string, int>> arguments;
  for (int i = 0; i < kLarge; ++i) arguments.emplace_back(text_of(i), i);
  EXPECT_EQ(large.submit_many(arguments).size(), static_cast<std::size_t>(kLarge));
  EXPECT_TRUE(test::eventually([&] { return none_left(engine, "large"); }, 60s));
  EXPECT_GT(others.end(), 0);
  EXPECT_LE(others.longest(), kGenerous);
  EXPECT_EQ(whole, kLarge);
  EXPECT_EQ(succeeded(engine, "large"), static_cast<std::size_t>(kLarge));
}

TEST_P(UnusualInputs, LargeResultsWaitForTheirCallbackAndReachItWholeWhileOthersGoOn) {
  constexpr int kLarge = 40;
  constexpr std::size_t kBytes = 300'000;
  constexpr std::size_t kHugeBytes = 20'000'000;
  const std::string kHuge = "7";
  const auto size_of = [&](int i) { return std::to_string(i) == kHuge ? kHugeBytes : kBytes + i; };
  const auto opened = open();
  Engine& engine = *opened;
  std::mutex mutex;
  std::map<int, int> runs;
  std::map<std::string, std::size_t> reached;
  std::set<std::string> refused;
  auto makes = engine.retryable("makes",
                                [&](int i) {
                                  const std::lock_guard lock{mutex};
                                  ++runs[i];
                                  return std::string(size_of(i), static_cast<char>('a' + i % 26));
                                },
                                {.backoff = Fixed{50ms}});
  // Refused once each, so that the result is kept for another time.
  makes.on_success([&](const std::string& result, const TaskInfo& task) {
    const std::lock_guard lock{mutex};
    if (refused.insert(task.key).second) throw std::runtime_error("not now");
    reached[task.key] = result.size();
  });
  auto other = engine.retryable("other", [](int) {});
  engine.start();
  OthersWork others{engine, other};
  std::vector<int> numbers;
  for (int i = 0; i < kLarge; ++i) numbers.push_back(i);
  makes.submit_many(numbers, [](int i) { return SubmitOptions{.key = std::to_string(i)}; });
  EXPECT_TRUE(test::eventually([&] { return none_left(engine, "makes"); }, 60s));
  EXPECT_GT(others.end(), 0);
  EXPECT_LE(others.longest(), kGenerous);
  const std::lock_guard lock{mutex};
  for (const int i : numbers) EXPECT_EQ(runs[i], 1) << i;
  // Too large for some. Its callback is given up then, and the task says why.
  if (const auto hint = too_large()) {
    reached[kHuge] = kHugeBytes;
    const auto huge = engine.list({.finished = true, .key = kHuge});
    ASSERT_EQ(huge.size(), 1U);
    EXPECT_EQ(huge[0].outcome, Outcome::succeeded);
    EXPECT_THAT(huge[0].last_error, AllOf(HasSubstr("not now"), HasSubstr(*hint)));
  }
  for (const int i : numbers) EXPECT_EQ(reached[std::to_string(i)], size_of(i)) << i;
}

}  // namespace
}  // namespace easyretry::fault
