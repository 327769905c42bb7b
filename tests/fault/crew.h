#pragma once
// Processes that submit and work on one store (kill_worker.cpp), each life with a journal of its own, started and
// killed by a test.

#include <map>
#include <memory>
#include <random>
#include <string>

#include "fault/child.h"
#include "fault/journal.h"
#include "support/temp_folder.h"

namespace easyretry::fault {

// When a life was about to be killed, by wall_micros(). One that is not here ended by itself.
using Deaths = std::map<int, std::int64_t>;

class Crew {
 public:
  explicit Crew(std::string url, std::string membership = "store")
      : url_(std::move(url)), membership_(std::move(membership)) {}

  // Gives the number of the life. With 0 tasks it ends by itself when nothing is left to do.
  int start(int tasks) { return start(tasks, url_); }
  int start(int tasks, const std::string& url);  // the same store by another way
  Child& member(int life) { return *members_.at(life); }
  void kill(int life);
  void kill_all();
  // One more life, that does what is left; false if it could not.
  bool finish();

  std::vector<int> alive() const;
  int lives() const { return lives_; }
  const Deaths& deaths() const { return deaths_; }
  std::vector<JournalEvent> events() const { return read_journals(folder_.path()); }

  // Of all lives, so far.
  std::size_t events_written();
  std::size_t submitted();
  std::size_t submitted_by(int life) { return journals_.at(static_cast<std::size_t>(life)).submitted(); }

 private:
  const std::string url_;
  const std::string membership_;
  const test::TempFolder folder_;
  int lives_ = 0;
  std::map<int, std::unique_ptr<Child>> members_;  // the living
  std::vector<JournalCounter> journals_;           // by life
  Deaths deaths_;
};

// Each fault test says its seed, so that its dice can be thrown again.
class Dice {
 public:
  Dice() : seed_(std::random_device{}()), random_(seed_) {}
  unsigned seed() const { return seed_; }
  std::string trace() const { return "seed " + std::to_string(seed_); }
  std::size_t up_to(std::size_t most) { return std::uniform_int_distribution<std::size_t>{0, most}(random_); }

 private:
  const unsigned seed_;
  std::mt19937 random_;
};

}  // namespace easyretry::fault
