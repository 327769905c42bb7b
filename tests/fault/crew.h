#pragma once
// Processes that submit tasks to one store and run them (kill_worker.cpp), started and killed by a test. Each life of a
// process has its own journal.

#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "fault/child.h"
#include "fault/journal.h"
#include "support/temp_folder.h"

namespace easyretry::fault {

// When a life was about to be killed, by wall_micros(). One that is not here ended by itself.
using Deaths = std::map<int, std::int64_t>;

// The environment of a process: EASYRETRY_* for its engine, MACHINE_* for another_machine.cpp.
using Variables = std::map<std::string, std::string>;

// Where a process runs.
struct Place {
  std::string url{};                   // the same store by another way; empty: the crew's
  Variables variables{};               // over those of the crew
  std::vector<std::string> through{};  // a program that runs it, with arguments
};

class Crew {
 public:
  explicit Crew(std::string url, Variables variables = {}) : url_(std::move(url)), variables_(std::move(variables)) {}

  // Gives the number of the life. With 0 tasks it ends by itself when nothing is left to do.
  int start(int tasks, const Place& place = {});
  void start_some(int processes, int tasks);
  // A process that works until it is killed, as if on another machine: on the same one, the others would see at once
  // that it is gone.
  int start_elsewhere();
  Child& member(int life) { return *members_.at(life); }
  void kill(int life);
  void kill_oldest(int processes);
  void kill_all();
  void stop(int life);   // SIGSTOP
  void go_on(int life);  // SIGCONT
  // Waits until it has ended. False: it was killed, by itself for example.
  bool wait(int life);
  // Kills all live processes; then one more life runs what is left. False if it could not.
  bool finish();

  // A life without a process: a client that submits tasks, and writes that to the journal.
  int start_caller();
  std::filesystem::path journal_of(int life) const { return journal_path(folder_.path(), life); }

  std::vector<int> alive() const;
  int lives() const { return lives_; }
  const Deaths& deaths() const { return deaths_; }
  const std::set<int>& stopped() const { return stopped_; }  // for a while, or still

  // Of all lives, so far; those of the first life first.
  std::vector<JournalEvent> events();
  std::size_t events_written();
  std::size_t submitted();
  const std::vector<JournalEvent>& events_of(int life) { return journals_.at(static_cast<std::size_t>(life)).events(); }
  std::size_t submitted_by(int life) { return journals_.at(static_cast<std::size_t>(life)).submitted(); }

 private:
  std::vector<std::string> command(int life, int tasks, const Place& place) const;

  const std::string url_;
  const Variables variables_;
  const test::TempFolder folder_;
  int lives_ = 0;
  std::map<int, std::unique_ptr<Child>> members_;  // the living
  std::vector<JournalReader> journals_;            // by life
  Deaths deaths_;
  std::set<int> stopped_;
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
