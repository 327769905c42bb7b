#include "fault/load.h"

#include <algorithm>
#include <iostream>
#include <iterator>

#include <gtest/gtest.h>

#include "support/eventually.h"
#include "task/task_key.h"

namespace easyretry::fault {
namespace {

static_assert(kNumbersPerLife % kShards == 0, "the shard of a task is its number modulo the shards");

// Where more than this is left to be done, the machine is too slow for us, and we wait for it.
constexpr std::int64_t kMostLeft = 40 * kShards;

}  // namespace

const std::vector<std::string>& business_ids() {
  static const std::vector<std::string> ids = [] {
    std::map<ShardId, std::string> found;
    for (int i = 0; found.size() < kShards; ++i) {
      const std::string id = "business-" + std::to_string(i);
      found.emplace(task::shard_for(id, {}, kShards), id);
    }
    std::vector<std::string> in_order;
    for (const auto& [shard, id] : found) in_order.push_back(id);
    return in_order;
  }();
  return ids;
}

SteadyLoad::SteadyLoad(const std::string& url, Crew& crew, Millis between_rounds)
    : SteadyLoad(url, crew, crew.start_caller(), between_rounds) {}

SteadyLoad::SteadyLoad(const std::string& url, Crew& crew, int life, Millis between_rounds)
    : between_rounds_(between_rounds),
      journal_(crew.journal_of(life)),
      engine_(url),
      work_(engine_.retryable(
          "work", [](int) { return done(); }, policy_of_work())),
      first_(life * kNumbersPerLife),
      next_(first_),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void SteadyLoad::end() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void SteadyLoad::run(const std::stop_token& stop) try {
  std::unique_lock lock{mutex_};
  while (!stop.stop_requested()) {
    if (engine_.count({}) < kMostLeft) submit_round();
    pause_.wait_for(lock, stop, between_rounds_, [] { return false; });
  }
} catch (const std::exception& error) {
  ADD_FAILURE() << "no more load: " << error.what();
}

void SteadyLoad::submit_round() {
  std::vector<int> numbers;
  for (int i = 0; i < kShards; ++i) numbers.push_back(next_ + i);
  work_.submit_many(numbers, [](int number) {
    return SubmitOptions{.key = key_of(number), .business_id = business_ids().at(number % kShards)};
  });
  for (const int number : numbers) journal_.write("ack " + key_of(number));
  next_ += kShards;
}

const std::map<int, int>& Ends::look() {
  read_.resize(static_cast<std::size_t>(crew_.lives()));
  for (int life = 0; life < crew_.lives(); ++life) {
    const auto& events = crew_.events_of(life);
    for (std::size_t& i = read_.at(static_cast<std::size_t>(life)); i < events.size(); ++i) {
      const JournalEvent& event = events[i];
      if (event.what == "success" || event.what == "failure") ended_.emplace(number_of(event.subject), life);
    }
  }
  return ended_;
}

bool Ends::all_of(int from, int to) {
  const auto& ended = look();
  return std::distance(ended.lower_bound(from), ended.lower_bound(to)) == to - from;
}

std::map<int, int> Ends::by_life(int from, int to) {
  const auto& ended = look();
  std::map<int, int> counts;
  std::for_each(ended.lower_bound(from), ended.lower_bound(to), [&](const auto& one) { ++counts[one.second]; });
  return counts;
}

Takeover time_takeover(const SteadyLoad& load, Ends& ends) {
  constexpr std::chrono::seconds kLong{60};
  const int after = load.next() + kShards;  // a round may be in progress
  const auto served = test::time_until([&] { return ends.all_of(after, after + kShards); }, kLong);
  EXPECT_TRUE(served) << "a shard is not served";
  const auto rest = test::time_until([&] { return ends.all_of(load.first(), after); }, kLong);
  EXPECT_TRUE(rest) << "something from before does not end";
  const Millis first = served.value_or(kLong);
  const Takeover took{first, first + rest.value_or(kLong)};
  std::cout << "every shard is served after " << took.served.count() << " ms, everything from before has ended after "
            << took.finished.count() << " ms\n";
  ::testing::Test::RecordProperty("served_ms", std::to_string(took.served.count()));
  ::testing::Test::RecordProperty("finished_ms", std::to_string(took.finished.count()));
  return took;
}

}  // namespace easyretry::fault
