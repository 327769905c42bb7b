#pragma once
// One run: several instances, one store, virtual time, and everything that goes wrong, all from one seed.

#include <cstdint>
#include <deque>
#include <memory>
#include <set>
#include <vector>

#include "sim/checker.h"
#include "sim/far_store.h"
#include "sim/instance.h"

namespace easyretry::sim {

class World {
 public:
  World(std::uint64_t seed, Sharing sharing, StoreKind store);

  // First faults, then calm until everything has ended, or should have.
  void run();

  const Journal& journal() const { return journal_; }
  Journal& journal() { return journal_; }
  const Scenario& scenario() const { return scenario_; }
  const std::map<std::string, Plan>& plans() const { return user_code_.plans(); }
  std::uint64_t events() const { return scheduler_.events(); }
  std::vector<Violation> violations() const;

 private:
  // Faults, each at random times while the noise lasts.
  void every(Time mean, std::function<void()> what);
  void make_trouble();

  // Clients. Each call runs on a thread of an instance and is lost with it.
  void invite_clients();
  void submit();
  void check_alone(TaskId id, int instance);
  void check_stored_once(const std::string& key, std::size_t since, int instance);
  void revise();
  void end_a_task();
  void requeue();
  // One that is paused is resumed.
  void pause_a_handler();
  void resume(std::string handler);

  void start(Instance& instance);
  Instance* pick_alive();
  std::vector<ShardId> view_of(int instance);
  void check_each_shard_has_one_owner();
  bool may_stay(const Instance& instance) const;
  void calm_down();
  void run_until(Time until, const std::function<bool()>& done);
  std::vector<task::TaskRecord> everything(bool finished);

  Dice dice_;
  const Scenario scenario_;
  Scheduler scheduler_;
  StoreClock store_clock_;
  const std::unique_ptr<FarStore> store_;
  Journal journal_;
  Weather weather_;
  UserCode user_code_;
  std::deque<Instance> instances_;

  bool noisy_ = true;
  std::set<std::string> paused_handlers_;
  bool views_agree_ = true;
  std::map<std::string, int> submissions_;  // by key
  std::vector<TaskId> acked_;
  std::set<TaskId> alone_;                                        // of submissions with OnDuplicate::reject
  const std::shared_ptr<int> clients_ = std::make_shared<int>();  // each call in progress holds a copy
  std::vector<task::TaskRecord> live_, history_;                  // at the end
};

}  // namespace easyretry::sim
