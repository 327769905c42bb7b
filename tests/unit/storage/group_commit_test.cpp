#include "storage/group_commit.h"

#include <atomic>
#include <latch>
#include <thread>

#include <gmock/gmock.h>

namespace easyretry::storage {
namespace {

using testing::ElementsAre;

struct Write : GroupCommit::Entry {
  Write() : Entry(1, Answered::on_disk) {}
};

// With a disk that takes nothing until it is let go.
class GroupCommitTest : public testing::Test {
 protected:
  std::jthread submitter() {
    return std::jthread{[this] {
      Write write;
      group.submit(write);
    }};
  }
  // One after the other, so that each is a group of its own.
  std::vector<std::jthread> two_on_the_disk() {
    std::vector<std::jthread> threads;
    for (int number = 1; number <= 2; ++number) {
      threads.push_back(submitter());
      while (syncing < number) std::this_thread::yield();
    }
    return threads;
  }

  std::latch disk{1};
  std::atomic<int> syncing{0};
  std::vector<std::size_t> sizes;  // of groups, in order
  GroupCommit group{{.commit = [this](GroupCommit::Group entries) { sizes.push_back(entries.size()); },
                     .before_commit = [] {},
                     .sync =
                         [this](GroupCommit::Group) {
                           ++syncing;
                           disk.wait();
                         }}};
};

TEST_F(GroupCommitTest, GathersUntilAGroupIsAsLargeAsTheOneInFlight) {
  {
    const auto first = two_on_the_disk();
    const auto third = submitter();
    const auto fourth = submitter();
    while (syncing < 3) std::this_thread::yield();
    disk.count_down();
  }
  EXPECT_THAT(sizes, ElementsAre(1, 1, 2));
}

TEST_F(GroupCommitTest, DoesNotWaitForCompanyOnceTheDiskIsDone) {
  {
    const auto first = two_on_the_disk();
    const auto third = submitter();
    disk.count_down();
  }
  EXPECT_THAT(sizes, ElementsAre(1, 1, 1));
}

}  // namespace
}  // namespace easyretry::storage
