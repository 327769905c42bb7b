#pragma once
// One virtual instance: a process with an engine in it, started again after each death with a new name and new clocks.

#include <memory>
#include <optional>
#include <vector>

#include "engine/core.h"
#include "sim/clocks.h"
#include "sim/faulty_store.h"
#include "sim/user_code.h"

namespace easyretry::sim {

// Shared by all instances of a world.
struct Surroundings {
  Scheduler& scheduler;
  Dice& dice;
  const Scenario& scenario;
  FarStore& store;
  Weather& weather;
  Journal& journal;
  UserCode& user_code;
};

class Instance {
 public:
  Instance(const Surroundings& world, int number) : world_(world), number_(number) {}

  bool alive() const { return life_ != nullptr; }
  int number() const { return number_; }
  bool lacks_a_handler() const {
    return alive() && life_->core.context().handlers.snapshot()->by_number.size() < handler_kinds().size();
  }
  bool draining() const { return alive() && life_->draining; }
  std::size_t holds() const { return alive() ? life_->core.stats().running : 0; }
  // That it owns, of a handler that it has.
  std::vector<ShardId> shards_of(const std::string& handler) const;
  Time paused_until() const { return alive() ? life_->process.paused_until() : Time{0}; }

  // `shards`: where the world says which they are.
  void start(std::vector<ShardId> shards, bool all_handlers);
  void crash() { end(Death::crashed); }
  void pause(Time how_long);
  void own(std::vector<ShardId> shards);
  // Like Threads::stop: stops claiming, hands back waiting tasks, lets handlers finish, writes outcomes.
  void drain();

  // Runs `what` on a thread of this process, as a request to it would.
  void call(std::function<void(engine::Core&)> what);

  std::function<void(Death)> on_end;  // it is dead now

 private:
  struct Life {
    Life(const Surroundings& world, int number, const std::string& owner, ClockErrors clock_errors);
    ~Life() { process.kill(); }  // while what its threads use still lives

    ProcessClock clock;
    Process process;
    std::shared_ptr<FaultyStore> store;
    bool draining = false;
    int loops_to_end = 0;  // before a drain goes on: the Loader's, the Claimers' and the Rebalancer's
    engine::Core core;
  };

  // The Loader and the Claimer end first, so that no task is claimed that will not run.
  enum class WhenDraining { goes_on, ends };
  template <class Part>
  void run_part(Life& life, Part& part, engine::Wakeup& wakeup, WhenDraining when_draining);
  void loop(Life& life, engine::Wakeup& wakeup, const std::function<engine::Step()>& step, WhenDraining when_draining);
  engine::Step guarded(const std::function<engine::Step()>& step);
  void drain(Life& life);
  void check_memory();
  void end_soon(Death how);
  void end(Death how);

  const Surroundings world_;
  const int number_;
  int lives_ = 0;
  std::unique_ptr<Life> life_;
};

}  // namespace easyretry::sim
