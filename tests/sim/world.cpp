#include "sim/world.h"

#include <algorithm>
#include <utility>

namespace easyretry::sim {
namespace {

using namespace std::chrono_literals;

// Far more than the slowest run needs (the longest seen took four minutes); a task that is not done by then is stuck.
constexpr Time kPatience = 15min;
// A run has some ten thousand events; one with this many turns in circles.
constexpr std::uint64_t kMostEvents = 2'000'000;

// How users end tasks.
const std::vector<Outcome> kEnds{Outcome::cancelled, Outcome::cancelled, Outcome::succeeded, Outcome::rejected};

}  // namespace

World::World(std::uint64_t seed, Sharing sharing, StoreKind store)
    : dice_(seed),
      scenario_(draw_scenario(dice_, sharing, store)),
      scheduler_(dice_.seed()),
      store_clock_(scheduler_),
      store_(make_far_store(store, scenario_, dice_.seed(), store_clock_)),
      journal_(store_clock_),
      weather_(scheduler_, dice_, scenario_),
      user_code_(dice_, journal_, scenario_) {
  const Surroundings surroundings{scheduler_, dice_, scenario_, *store_, weather_, journal_, user_code_};
  for (int i = 0; i < scenario_.instances; ++i) {
    Instance& instance = instances_.emplace_back(surroundings, i);
    instance.on_end = [this, &instance](Death how) {
      store_->user_ended(how);
      const Time downtime = noisy_ ? dice_.around(3s) : dice_.between(Time{100ms}, Time{1s});
      scheduler_.at(scheduler_.now() + downtime, [this, &instance] { start(instance); });
    };
  }
}

void World::run() {
  for (Instance& instance : instances_) start(instance);
  make_trouble();
  invite_clients();
  run_until(scenario_.noise, [] { return false; });
  calm_down();
  run_until(scheduler_.now() + kPatience, [this] { return journal_.open_tasks() == 0 && clients_.use_count() == 1; });
  // Instances that still believe to hold a task report its outcome.
  run_until(scheduler_.now() + 2 * Time{scenario_.engine.lease}, [] { return false; });
  if (scenario_.sharing == Sharing::found) check_each_shard_has_one_owner();
  store_->user_ended(Death::crashed);
  live_ = everything(false);
  history_ = everything(true);
}

void World::run_until(Time until, const std::function<bool()>& done) {
  while (!done() && scheduler_.step(until)) {
    if (scheduler_.events() < kMostEvents) continue;
    journal_.write(-1, Wrong{"I1", "time stands still: something turns in circles"});
    return;
  }
}

std::vector<Violation> World::violations() const {
  return check({scenario_, user_code_.plans(), journal_.entries(), live_, history_});
}

std::vector<task::TaskRecord> World::everything(bool finished) {
  storage::TaskQuery query;
  query.name_space = scenario_.engine.name_space;
  query.finished = finished;
  query.requeued = true;
  query.limit = 1'000'000;
  return store_->tasks().list(query).value();
}

// ---- trouble

void World::every(Time mean, std::function<void()> what) {
  if (mean == Time{0}) return;
  scheduler_.at(scheduler_.now() + dice_.around(mean), [this, mean, what = std::move(what)] {
    if (!noisy_) return;
    what();
    every(mean, what);
  });
}

void World::make_trouble() {
  const Troubles& often = scenario_.troubles;
  every(often.crash, [this] {
    if (Instance* instance = pick_alive()) instance->crash();
  });
  every(often.pause, [this] {
    // Shorter than the lease as well as longer: one must do no harm, the other must be noticed.
    Instance* instance = pick_alive();
    if (instance != nullptr) instance->pause(dice_.between(Time{50ms}, 3 * Time{scenario_.engine.lease}));
  });
  every(often.drain, [this] {
    Instance* instance = pick_alive();
    if (instance != nullptr && !instance->draining()) instance->drain();
  });
  every(often.outage, [this] {
    journal_.write(-1, Hit{Fault::outage});
    weather_.store_down_until(scheduler_.now() + dice_.around(5s));
  });
  every(often.partition, [this] {
    const int cut_off = dice_.between(0, scenario_.instances - 1);
    journal_.write(cut_off, Hit{Fault::partition});
    weather_.cut_off_until(cut_off, scheduler_.now() + dice_.around(5s));
  });
  every(often.views, [this] {
    if (scenario_.sharing == Sharing::found) return weather_.lists_wrong_until(scheduler_.now() + dice_.around(5s));
    journal_.write(-1, Hit{Fault::views});
    views_agree_ = false;
    for (Instance& instance : instances_) {
      if (instance.alive() && dice_.chance(0.7)) instance.own(view_of(instance.number()));
    }
  });
}

Instance* World::pick_alive() {
  std::vector<Instance*> alive;
  for (Instance& instance : instances_) {
    if (instance.alive()) alive.push_back(&instance);
  }
  return alive.empty() ? nullptr : dice_.pick(alive);
}

void World::start(Instance& instance) {
  if (!instance.alive()) instance.start(view_of(instance.number()), !noisy_);
}

// Agreeing, each shard has one owner, but for a forgotten one. Otherwise it may have none, or several.
std::vector<ShardId> World::view_of(int instance) {
  std::vector<ShardId> shards;
  for (int shard = 0; shard < scenario_.shards; ++shard) {
    const bool agreed = shard != scenario_.forgotten_shard && shard % scenario_.instances == instance;
    const bool mine = views_agree_ ? agreed : dice_.chance(1.0 / scenario_.instances);
    if (mine) shards.push_back(ShardId{static_cast<std::uint16_t>(shard)});
  }
  return shards;
}

void World::check_each_shard_has_one_owner() {
  for (const HandlerKind& kind : handler_kinds()) {
    const std::string handler{kind.name};
    std::map<ShardId, int> owners;
    for (const Instance& instance : instances_) {
      for (const ShardId shard : instance.shards_of(handler)) ++owners[shard];
    }
    for (int shard = 0; shard < scenario_.shards; ++shard) {
      const int many = owners[ShardId{static_cast<std::uint16_t>(shard)}];
      if (many == 1) continue;
      journal_.write(-1, Wrong{"I10", "shard " + std::to_string(shard) + " of " + handler + " has " +
                                          std::to_string(many) + " owners"});
    }
  }
}

// If instances find each other, those that lack a handler may stay: another instance has it and runs its tasks.
bool World::may_stay(const Instance& instance) const {
  if (!instance.lacks_a_handler()) return true;
  return scenario_.sharing == Sharing::found &&
         std::any_of(instances_.begin(), instances_.end(),
                     [](const Instance& other) { return other.alive() && !other.lacks_a_handler(); });
}

// Nothing is injected from here on, but what was injected takes a while to end.
void World::calm_down() {
  noisy_ = false;
  while (!paused_handlers_.empty()) resume(*paused_handlers_.begin());
  const bool views_change = !std::exchange(views_agree_, true);
  weather_.calm_down();
  Time calm = scheduler_.now() + std::max(Weather::kLatest, 2 * scenario_.slowest);
  for (Instance& instance : instances_) {
    if (instance.alive() && !may_stay(instance)) instance.crash();
    calm = std::max(calm, instance.paused_until());
    if (instance.alive() && views_change) instance.own(view_of(instance.number()));
  }
  run_until(calm, [] { return false; });
  user_code_.calm_down();
  if (scenario_.last_blow) {
    const auto busiest = std::max_element(instances_.begin(), instances_.end(),
                                          [](const Instance& a, const Instance& b) { return a.holds() < b.holds(); });
    if (busiest->alive()) busiest->crash();
  }
  for (Instance& instance : instances_) start(instance);
  journal_.write(-1, Calm{});
}

// ---- clients

void World::invite_clients() {
  for (int i = 0; i < scenario_.tasks; ++i) {
    scheduler_.at(dice_.between(Time{0}, scenario_.noise * 9 / 10), [this] { submit(); });
  }
  every(scenario_.cancel, [this] { end_a_task(); });
  every(scenario_.requeue, [this] { requeue(); });
  every(scenario_.revise, [this] { revise(); });
  every(scenario_.pause_handler, [this] { pause_a_handler(); });
}

// Straight in the store, as a command line does that has nothing to do with the instances.
void World::pause_a_handler() {
  const auto kinds = handler_kinds();
  const std::string name{kinds[static_cast<std::size_t>(dice_.between(0, static_cast<int>(kinds.size()) - 1))].name};
  if (paused_handlers_.contains(name)) return resume(name);
  store_->tasks().pause(scenario_.engine.name_space, name, "").value();
  journal_.write(-1, HandlerPaused{name});
  paused_handlers_.insert(name);
}

void World::resume(std::string handler) {
  store_->tasks().resume(scenario_.engine.name_space, handler).value();
  paused_handlers_.erase(handler);
  journal_.write(-1, HandlerResumed{std::move(handler)});
}

void World::submit() {
  Instance* instance = pick_alive();
  if (instance == nullptr) return;
  std::vector<task::NewTask> tasks;
  for (int n = dice_.chance(0.2) ? dice_.between(2, 5) : 1; n > 0; --n) {
    tasks.push_back(user_code_.draw_task(store_clock_.now()));
    ++submissions_[tasks.back().key];
  }
  instance->call([this, client = clients_, number = instance->number(), tasks = std::move(tasks)](engine::Core& core) {
    const std::size_t before = journal_.entries().size();
    const auto stored = core.submit(tasks);
    for (const task::NewTask& task : tasks) check_stored_once(task.key, before, number);
    if (!stored) return;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (tasks[i].on_duplicate == OnDuplicate::reject) check_alone((*stored)[i].id, number);
      journal_.write(number, Acked{(*stored)[i].id, tasks[i].key});
      acked_.push_back((*stored)[i].id);
    }
  });
}

// Two submissions with OnDuplicate::reject never get the same task.
void World::check_alone(TaskId id, int instance) {
  if (!alone_.insert(id).second) {
    journal_.write(instance, Wrong{"I14", "task " + to_string(id) + " is said to be stored by two submissions"});
  }
}

// A reply that is lost must not make two tasks of one, even if the first has ended meanwhile. If requests arrive
// late, that cannot be promised.
void World::check_stored_once(const std::string& key, std::size_t since, int instance) {
  if (submissions_[key] > 1 || scenario_.calls.late > 0) return;
  const auto times = std::count_if(journal_.entries().begin() + static_cast<std::ptrdiff_t>(since),
                                   journal_.entries().end(), [&](const Entry& entry) {
                                     const auto* inserted = std::get_if<Inserted>(&entry.what);
                                     return inserted != nullptr && inserted->key == key;
                                   });
  if (times > 1) journal_.write(instance, Wrong{"I14", "one submission of " + key + " was stored twice"});
}

// Its attempts stay as many as the checker counts on.
void World::revise() {
  Instance* instance = pick_alive();
  if (instance == nullptr || acked_.empty()) return;
  const bool retry = dice_.chance(0.5);
  instance->call([client = clients_, id = dice_.pick(acked_), retry](engine::Core& core) {
    if (retry) return (void)core.retry_now(id);
    (void)core.revise_rules(id, [](task::RetryRules rules) {
      rules.max_duration += Millis{1};
      return rules;
    });
  });
}

void World::end_a_task() {
  Instance* instance = pick_alive();
  if (instance == nullptr || acked_.empty()) return;
  const task::Ending as{.outcome = dice_.pick(kEnds), .tell = true};
  instance->call(
      [this, as, client = clients_, id = dice_.pick(acked_), number = instance->number()](engine::Core& core) {
        if (core.end(id, as).value_or(false)) journal_.write(number, EndAnswered{id});
      });
}

void World::requeue() {
  Instance* instance = pick_alive();
  if (instance == nullptr || acked_.empty()) return;
  instance->call([client = clients_, id = dice_.pick(acked_)](engine::Core& core) {
    (void)core.store().requeue({&id, 1});
  });
}

}  // namespace easyretry::sim
