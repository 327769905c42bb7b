// Instances that divide a number of seats by announcements that each writes and all read.

#include "engine/seats.h"

#include <algorithm>
#include <optional>
#include <random>

#include <gtest/gtest.h>

namespace easyretry::engine {
namespace {

std::vector<SeatReport> wishing(std::initializer_list<std::int64_t> wishes) {
  std::vector<SeatReport> others;
  for (const std::int64_t one : wishes) others.push_back({0, one});
  return others;
}

TEST(FairShare, IsTheWishIfThereIsEnoughForAll) {
  EXPECT_EQ(fair_share(10, 3, wishing({7})), 3);
  EXPECT_EQ(fair_share(10, 0, wishing({20})), 0);
  EXPECT_EQ(fair_share(10, 20, {}), 10);
}

TEST(FairShare, IsEvenAmongThoseThatWishForMore) {
  EXPECT_EQ(fair_share(10, 9, wishing({9})), 5);
  EXPECT_EQ(fair_share(10, 9, wishing({2, 9})), 4);
  EXPECT_EQ(fair_share(10, 2, wishing({9, 9})), 2);
}

TEST(FairShare, GivesTheRemainderToTheInstancesWhoseTurnItIs) {
  std::vector<SeatReport> others = wishing({5, 5});
  EXPECT_EQ(fair_share(1, 5, others), 1);
  others[0].first = true;
  EXPECT_EQ(fair_share(1, 5, others), 0);
  EXPECT_EQ(fair_share(2, 5, others), 1);
  EXPECT_EQ(fair_share(4, 5, others), 1);
  EXPECT_EQ(fair_share(5, 5, others), 2);
}

// Instances whose writes and reads come in any order.
class SeatRegister {
 public:
  SeatRegister(std::int64_t total, std::size_t size) : total_(total), instances_(size) {}

  void write(std::size_t i) {
    Instance& one = instances_[i];
    const SeatReport report = one.seats.announce(total_, one.wishes, [&] { return one.used; });
    one.read.reset();
    one.written = report;
  }
  void read(std::size_t i) {
    std::vector<SeatReport> others;
    for (std::size_t j = 0; j < instances_.size(); ++j) {
      if (j != i && instances_[j].written) others.push_back(*instances_[j].written);
      if (j != i && instances_[j].written) others.back().first = j < i;
    }
    instances_[i].read = others;
  }
  void hear(std::size_t i) {
    if (instances_[i].read) instances_[i].seats.heard(total_, *instances_[i].read, true);
    instances_[i].read.reset();
  }
  void exchange(std::size_t i) {
    write(i);
    read(i);
    hear(i);
  }
  void use(std::size_t i) {
    Instance& one = instances_[i];
    if (one.used < one.seats.usable()) ++one.used;
  }
  void end(std::size_t i) { instances_[i].used = std::max<std::int64_t>(0, instances_[i].used - 1); }
  void wish(std::size_t i, std::int64_t wishes) { instances_[i].wishes = wishes; }
  const Seats& seats(std::size_t i) const { return instances_[i].seats; }
  std::int64_t used() const {
    std::int64_t sum = 0;
    for (const Instance& one : instances_) sum += one.used;
    return sum;
  }

 private:
  struct Instance {
    Seats seats;
    std::int64_t wishes = 0;
    std::int64_t used = 0;
    std::optional<SeatReport> written;
    std::optional<std::vector<SeatReport>> read;
  };
  std::int64_t total_;
  std::vector<Instance> instances_;
};

TEST(Seats, AreNeverInUseTwiceInAnyOrderOfWritesAndReads) {
  for (unsigned seed = 0; seed < 2'000; ++seed) {
    std::mt19937 random{seed};
    const std::int64_t total = 1 + static_cast<std::int64_t>(random() % 6);
    const std::size_t size = 2 + random() % 3;
    SeatRegister all{total, size};
    for (int step = 0; step < 300; ++step) {
      const std::size_t i = random() % size;
      switch (random() % 7) {
        case 0: all.wish(i, random() % 8); break;
        case 1: all.write(i); break;
        case 2: all.read(i); break;
        case 3: all.hear(i); break;
        case 4:
        case 5: all.use(i); break;
        default: all.end(i);
      }
      ASSERT_LE(all.used(), total) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(Seats, AreAllTakenIfOneInstanceWishesForAll) {
  SeatRegister all{5, 2};
  all.wish(0, 9);
  all.exchange(0);
  EXPECT_EQ(all.seats(0).usable(), 5);
}

TEST(Seats, OfTwoThatAskAtTheSameTimeNeitherGetsMoreThanThereIsAndBothGetTheirShareSoon) {
  SeatRegister all{4, 2};
  for (std::size_t i : {0U, 1U}) all.wish(i, 4);
  for (std::size_t i : {0U, 1U}) all.write(i);
  for (std::size_t i : {0U, 1U}) all.read(i);
  for (std::size_t i : {0U, 1U}) all.hear(i);
  EXPECT_EQ(all.seats(0).ours() + all.seats(1).ours(), 0);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i : {0U, 1U}) all.exchange(i);
  }
  EXPECT_EQ(all.seats(0).usable(), 2);
  EXPECT_EQ(all.seats(1).usable(), 2);
}

TEST(Seats, GoToALateInstanceAsSoonAsTasksEnd) {
  SeatRegister all{4, 2};
  all.wish(0, 4);
  all.exchange(0);
  for (int i = 0; i < 4; ++i) all.use(0);
  all.wish(1, 4);
  all.exchange(1);
  EXPECT_EQ(all.seats(1).usable(), 0);
  all.exchange(0);
  EXPECT_EQ(all.seats(0).usable(), 2) << "it starts no more than its share";
  EXPECT_EQ(all.seats(0).ours(), 4) << "while they run";
  all.end(0);
  all.end(0);
  all.exchange(0);
  all.exchange(1);
  EXPECT_TRUE(all.seats(1).unsettled(4)) << "it has seen that there are free ones";
  all.exchange(1);
  EXPECT_EQ(all.seats(1).usable(), 2);
  EXPECT_FALSE(all.seats(1).unsettled(4));
}

TEST(Seats, ThatAreNotWishedForGoBack) {
  SeatRegister all{4, 2};
  all.wish(0, 4);
  all.exchange(0);
  all.wish(0, 0);
  all.exchange(0);
  EXPECT_EQ(all.seats(0).ours(), 0);
  all.wish(1, 4);
  all.exchange(1);
  EXPECT_EQ(all.seats(1).usable(), 4);
}

}  // namespace
}  // namespace easyretry::engine
