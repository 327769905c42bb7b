// The same with a kernel, a file system and a disk that are real: writes are accepted that cannot be brought to the
// disk.

#include "fault/thin_disk.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "fault/kept_promises.h"
#include "support/eventually.h"

namespace easyretry::fault {
namespace {

constexpr int kTasks = 100'000;
constexpr std::chrono::seconds kPatience{60};

bool grows(Crew& crew, std::size_t by) {
  const std::size_t before = acknowledged(crew);
  return test::eventually([&] { return acknowledged(crew) >= before + by; }, kPatience);
}

// The disk is full when a task is in doubt, or nothing has been acknowledged for a while.
bool fails(Crew& crew, int life) {
  std::size_t last = acknowledged(crew);
  auto since = std::chrono::steady_clock::now();
  return test::eventually(
      [&] {
        const std::size_t now = acknowledged(crew);
        if (now != last) since = std::chrono::steady_clock::now();
        last = now;
        const auto& events = crew.events_of(life);
        const bool doubt = std::any_of(events.begin(), events.end(), [](const auto& e) { return e.what == "doubt"; });
        // If it was a settlement that could not be written, all that follow are refused, and none is in doubt.
        const auto quiet = std::chrono::steady_clock::now() - since;
        return quiet > (doubt ? std::chrono::milliseconds{300} : std::chrono::milliseconds{3000});
      },
      kPatience);
}

class ThinDiskTest : public ::testing::TestWithParam<ThinDisk::Journal> {};

TEST_P(ThinDiskTest, ThatIsFullLosesNothingAcknowledgedAndTheProcessContinues) {
  ThinDisk disk{GetParam()};
  Crew crew{disk.url()};
  const int life = crew.start(kTasks);
  ASSERT_TRUE(grows(crew, 100));
  disk.fill();
  ASSERT_TRUE(fails(crew, life));
  disk.free();
  ASSERT_TRUE(grows(crew, 100)) << "the process does not go on";
  crew.kill(life);
  disk.remount();
  expect_all_acknowledged_in(disk.url(), crew);
}

INSTANTIATE_TEST_SUITE_P(ThinDisk, ThinDiskTest, ::testing::Values(ThinDisk::Journal::yes, ThinDisk::Journal::no),
                         [](const auto& journal) {
                           return std::string{journal.param == ThinDisk::Journal::yes ? "journal" : "no_journal"};
                         });

}  // namespace
}  // namespace easyretry::fault
