#include "sim/far_store.h"

#include <filesystem>
#include <string>

#include "storage/memory/memory_store.h"
#include "storage/sqlite/sqlite_store.h"
#include "support/temp_folder.h"
#include "task/task_id.h"

namespace easyretry::sim {
namespace {

namespace fs = std::filesystem;

class InMemory final : public FarStore {
 public:
  InMemory(const Scenario& scenario, std::uint64_t seed, const Clock& clock)
      : store_({.total_shards = scenario.shards, .history = storage::History::all, .id_seed = seed, .shared = true},
               clock) {}

  storage::StoreInfo info() const override { return store_.info(); }
  storage::Store& tasks() override { return store_; }
  storage::Store& members() override { return store_; }
  std::vector<TaskId> draw_ids(std::span<const task::NewTask> tasks) override { return store_.draw_ids(tasks); }
  storage::InsertResult insert_as(std::vector<TaskId>& ids, std::span<const task::NewTask> tasks) override {
    return store_.insert_as(ids, tasks);
  }
  bool may_be_late(std::string_view /*verb*/) const override { return true; }
  void user_ended(Death /*how*/) override {}

 private:
  storage::MemoryStore store_;
};

// In memory if possible: nothing here cuts the power, so no byte has to reach a disk.
fs::path folder_for_files() {
  const fs::path memory = "/dev/shm";
  return fs::is_directory(memory) ? memory : fs::temp_directory_path();
}

// A real file, and the real store on it. It does its work in the thread that calls it, so every call is over when it
// returns and takes no virtual time. Embedded, one instance owns the file, as in an application. Otherwise several
// instances share it through one store, as those of a daemon do, and list their members elsewhere.
//
// When a process crashes, the file is left as it is at this moment, with its log: the next process opens a copy of
// both.
class InAFile final : public FarStore {
 public:
  InAFile(const Scenario& scenario, std::uint64_t seed, const Clock& clock)
      : embedded_(scenario.embedded),
        shards_(scenario.shards),
        seed_(seed),
        clock_(clock),
        members_({.total_shards = scenario.shards, .id_seed = seed, .shared = true}, clock),
        doubtful_ids_(seed) {
    open();
  }

  storage::StoreInfo info() const override {
    storage::StoreInfo info = store_->info();
    info.shared = !embedded_;
    return info;
  }
  storage::Store& tasks() override { return *store_; }
  storage::Store& members() override { return members_; }

  // Ids of a shard that no task has, for the requests that do not arrive: the store draws its ids itself.
  std::vector<TaskId> draw_ids(std::span<const task::NewTask> tasks) override {
    std::vector<TaskId> ids;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      ids.push_back(doubtful_ids_.next(clock_.now(), ShardId{task::kMaxShards - 1}));
    }
    return ids;
  }
  storage::InsertResult insert_as(std::vector<TaskId>& ids, std::span<const task::NewTask> tasks) override {
    auto reply = store_->insert(tasks);
    for (std::size_t i = 0; reply && i < tasks.size(); ++i) {
      ids[i] = reply->tasks[i].created ? reply->tasks[i].id : TaskId{};
    }
    return reply;
  }
  // An insert that is executed later could not have told its ids.
  bool may_be_late(std::string_view verb) const override { return !embedded_ && verb != "insert"; }

  void user_ended(Death how) override {
    const fs::path left = file();
    if (how == Death::crashed) {
      ++crashes_;
      for (const char* part : {"", "-wal"}) fs::copy_file(left.string() + part, file().string() + part);
    }
    store_.reset();
    if (how == Death::crashed) {
      for (const char* part : {"", "-wal", "-shm", ".lock"}) fs::remove(left.string() + part);
    }
    open();
  }

 private:
  fs::path file() const { return folder_.path() / (std::to_string(crashes_) + ".db"); }
  void open() {
    store_ = storage::open_sqlite(
        {.path = file(), .history = storage::History::all, .total_shards = shards_, .id_seed = seed_}, clock_);
  }

  const bool embedded_;
  const int shards_;
  const std::uint64_t seed_;
  const Clock& clock_;
  const test::TempFolder folder_{folder_for_files()};
  int crashes_ = 0;
  storage::MemoryStore members_;
  task::TaskIdSource doubtful_ids_;
  std::unique_ptr<storage::Store> store_;
};

}  // namespace

std::unique_ptr<FarStore> make_far_store(StoreKind kind, const Scenario& scenario, std::uint64_t seed,
                                         const Clock& clock) {
  if (kind == StoreKind::sqlite) return std::make_unique<InAFile>(scenario, seed, clock);
  return std::make_unique<InMemory>(scenario, seed, clock);
}

}  // namespace easyretry::sim
