#include "engine/keeper.h"

#include <gtest/gtest.h>

#include <easyretry/testing.h>

namespace easyretry::engine {
namespace {

using namespace std::chrono_literals;

// Has this many calls' worth of housekeeping to do, and nothing else.
class DustyStore final : public storage::Store {
 public:
  explicit DustyStore(int calls) : left_(calls) {}
  Result<storage::KeepReport> keep() override {
    --left_;
    return storage::KeepReport{.steps = {}, .more = left_ > 0};
  }

  storage::StoreInfo info() const override { return {}; }
  Result<storage::InsertReply> insert(std::span<const task::NewTask>) override { return {}; }
  Result<storage::LoadReply> load(const storage::LoadQuery&) override { return {}; }
  Result<storage::ClaimReply> claim(const storage::ClaimRequest&) override { return {}; }
  Result<storage::Applied> settle(std::span<const task::Settlement>) override { return {}; }
  Result<storage::Applied> renew(std::span<const storage::Renewal>) override { return {}; }
  Result<std::vector<task::TaskRecord>> find(std::span<const TaskId>) override { return {}; }
  Result<std::vector<task::TaskRecord>> list(const storage::TaskQuery&) override { return {}; }
  Result<std::int64_t> count(const storage::TaskQuery&) override { return 0; }
  Result<Counts> counts(std::string_view) override { return {}; }
  Result<storage::Applied> cancel(std::span<const TaskId>, storage::Cancel) override { return {}; }
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId>) override { return {}; }

 private:
  int left_;
};

TEST(Keeper, GoesOnAtOnceWhereMoreIsLeftToDoAndThenRests) {
  testing::ManualClock clock;
  DustyStore store{2};
  Context context{store, clock, {}, "owner", 1};
  Keeper keeper{context};
  EXPECT_EQ(keeper.step().wake, Instant::min());
  EXPECT_GE(keeper.step().wake, clock.steady() + 1min);
}

}  // namespace
}  // namespace easyretry::engine
