// Specific to the memory store; tests/conformance has the claims that all stores share.

#include "storage/memory/memory_store.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include <easyretry/testing.h>

#include "support/task_builder.h"

namespace easyretry::storage {
namespace {

using test::a_task;

TEST(MemoryStore, RefusesAShardNumberThatNoIdCanHold) {
  const testing::ManualClock clock;
  for (const int shards : {-1, 0, 4097}) {
    EXPECT_THROW((MemoryStore{{.total_shards = shards, .history = {}, .id_seed = {}}, clock}), std::invalid_argument);
  }
  EXPECT_EQ((MemoryStore{{.total_shards = 4096, .history = {}, .id_seed = {}}, clock}).info().total_shards, 4096);
}

TEST(MemoryStore, DrawsTheSameIdsFromTheSameSeed) {
  const testing::ManualClock clock;
  const NewTask task = a_task();
  const auto first_id = [&](std::optional<std::uint64_t> seed) {
    MemoryStore store{{.total_shards = 64, .history = History::all, .id_seed = seed}, clock};
    return store.insert({&task, 1})->tasks.at(0).id;
  };
  EXPECT_EQ(first_id(7), first_id(7));
  EXPECT_NE(first_id(7), first_id(8));
}

}  // namespace
}  // namespace easyretry::storage
