// Crash for real: a process is killed again and again, and nothing acknowledged is lost, nothing runs twice at a time,
// and each task ends once.

#include <iostream>

#include "fault/each_server.h"
#include "fault/verdict.h"
#include "storage/open.h"
#include "support/eventually.h"
#include "support/test_database.h"

namespace easyretry::fault {
namespace {

constexpr int kMostLives = 500;
constexpr int kTasksPerLife = 800;

struct Ordeal {
  std::optional<ServerKind> server;  // none: SQLite
  int kills = 0;
  std::size_t tasks = 0;
};

std::ostream& operator<<(std::ostream& out, const Ordeal& ordeal) {
  return out << ordeal.kills << " kills, " << ordeal.tasks << " tasks";
}

class KilledForReal : public ::testing::TestWithParam<Ordeal> {
 protected:
  // Killed at a random moment of its work, told by how much it has done: a slow machine tests as much as a fast one.
  void live_and_die(Crew& crew) {
    const std::size_t enough = crew.events_written() + dice_.up_to(4 * kTasksPerLife);
    const int life = crew.start(kTasksPerLife);
    ASSERT_TRUE(test::eventually([&] { return crew.events_written() >= enough; }))
        << "life " << life << " stands still";
    crew.kill(life);
  }

  Dice dice_;
};

TEST_P(KilledForReal, LosesNothingOverlapsNothingAndEndsEachTaskOnce) {
  SCOPED_TRACE(dice_.trace());
  const test::TempFolder folder;
  std::optional<test::TestDatabase> database;
  if (GetParam().server) database.emplace(*GetParam().server);
  const std::string url = database ? database->url() : folder.sqlite_url();

  Crew crew{url};
  while (crew.lives() < GetParam().kills || crew.submitted() < GetParam().tasks) {
    ASSERT_LT(crew.lives(), kMostLives);
    ASSERT_NO_FATAL_FAILURE(live_and_die(crew));
  }
  ASSERT_TRUE(crew.finish()) << "the last life could not finish";

  const auto store = storage::open_store(url, system_clock());
  std::cout << judge(*store, crew) << "\n";
}

std::string server_name(const ::testing::TestParamInfo<Ordeal>& info) {
  return info.param.server ? test::name_of(*info.param.server) : "sqlite";
}

INSTANTIATE_TEST_SUITE_P(Sqlite, KilledForReal, ::testing::Values(Ordeal{{}, 50, 20'000}), server_name);
INSTANTIATE_TEST_SUITE_P(Postgres, KilledForReal, ::testing::Values(Ordeal{ServerKind::postgres, 15, 4'000}),
                         server_name);
INSTANTIATE_TEST_SUITE_P(Mariadb, KilledForReal, ::testing::Values(Ordeal{ServerKind::mariadb, 15, 4'000}),
                         server_name);
INSTANTIATE_TEST_SUITE_P(Redis, KilledForReal, ::testing::Values(Ordeal{ServerKind::redis, 15, 4'000}), server_name);

}  // namespace
}  // namespace easyretry::fault
