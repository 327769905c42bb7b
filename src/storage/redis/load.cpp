// load(): due tasks, by lua/load.lua.

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <set>
#include <tuple>

#include "storage/redis/record_layout.h"
#include "storage/redis/search.h"

namespace easyretry::storage::redis {
namespace {

namespace Found = layout::Found;

constexpr std::size_t kShardsACall = 256;

using Place = std::pair<TimePoint, TaskId>;  // in a shard

Place place_of(const DueTask& task) {
  return {task.due, task.id};
}

// Takes the first of several times in digits, separated by commas.
TimePoint next_time(std::string_view& times) {
  double ms = 0;
  std::from_chars(times.data(), times.data() + times.size(), ms);
  times.remove_prefix(std::min(times.find(','), times.size() - 1) + 1);
  return to_time(ms);
}

// A shard with the tasks of all parts that were asked.
struct Shard {
  std::vector<DueTask> tasks;
  std::optional<Place> read_until{};  // all parts have been read up to here; nullopt: to the end

  void stop_at(Place place) { read_until = std::min(read_until.value_or(place), place); }
  // Requires that the parts have been read: a page that is not full is the last one.
  bool wants_more(std::size_t limit) const {
    if (!read_until) return false;
    const auto counts = [&](const DueTask& task) { return place_of(task) <= *read_until; };
    return static_cast<std::size_t>(std::ranges::count_if(tasks, counts)) < limit;
  }
};
using Shards = std::map<ShardId, Shard>;

// The names of handlers in the reply, each once.
class Handlers {
 public:
  explicit Handlers(std::vector<std::string>& names) : names_(names) {}
  std::uint32_t number(const std::string& name) {
    const auto [found, fresh] = numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
    if (fresh) names_.push_back(name);
    return found->second;
  }

 private:
  std::vector<std::string>& names_;
  std::map<std::string, std::uint32_t> numbers_;
};

// Reads shards of one part, a few thousand members per call. A key that does not hold a sorted set is skipped; storing
// a task there fails and names the key.
class LoadJob final : public Job {
 public:
  LoadJob(Part& part, const LoadQuery& query, std::size_t room, Shards& shards, Handlers& handlers)
      : Job(part), query_(query), shards_(shards), handlers_(handlers) {
    for (const ShardCursor& cursor : query.from) left_.push_back({cursor, room});
  }
  TimePoint now() const { return now_; }
  void tell_ends() const {
    for (const Reading& reading : full_)
      shards_[reading.cursor.shard].stop_at({reading.cursor.place, reading.cursor.id});
  }
  // Continues in shards that need more tasks, where the room was used up.
  void go_on(const std::set<ShardId>& wanting, std::size_t room) {
    for (Reading& reading : full_) {
      if (!wanting.contains(reading.cursor.shard)) continue;
      reading.room = room;
      left_.push_back(reading);
    }
    std::erase_if(full_, [&](const Reading& reading) { return wanting.contains(reading.cursor.shard); });
  }

  bool done() const override { return left_.empty(); }
  ScriptCall next() override {
    ScriptCall call = part().script(scripts::load);
    part().uses(query_.name_space);
    call.keys.push_back(part().keys().meta());
    call.arguments.emplace_back(bytes_of(layout::LoadAhead{.ahead = query_.ahead}));
    call.arguments.push_back(std::to_string(kMembersALoad));
    for (std::size_t i = 0; i < std::min(left_.size(), kShardsACall); ++i) {
      const ShardCursor& from = left_[i].cursor;
      call.keys.push_back(part().keys().due(from.shard, query_.name_space));
      const bool after = from.place != TimePoint::min();
      call.arguments.emplace_back(bytes_of(
          layout::LoadFrom{.after = after ? 1 : 0, .place = from.place, .id = from.id, .room = left_[i].room}));
    }
    return call;
  }
  void take(const Reply& reply) override {
    now_ = TimePoint{Millis{reply.integer(0)}};
    for (std::size_t i = 1; i + 6 < reply.size(); i += 7) {
      Reading reading = left_.front();
      left_.pop_front();
      Shard& shard = shards_[reading.cursor.shard];
      const std::size_t before = shard.tasks.size();
      reading.room -= take_tasks(shard, reply.text(i + 1), reply.text(i + 2), reply.text(i + 3));
      take_suspects(std::span{shard.tasks}.subspan(before), reply.text(i + 5));
      take_retries(std::span{shard.tasks}.subspan(before), reply.text(i + 6));
      go_on_after(reading, static_cast<unsigned>(reply.integer(i)), reply.text(i + 4));
    }
    if (unreadable_ == query_.from.size()) throw server_error("WRONGTYPE at all sets of due tasks");
  }

 private:
  struct Reading {
    ShardCursor cursor;
    std::size_t room = 0;
  };

  std::size_t take_tasks(Shard& shard, std::string_view members, std::string_view versions, std::string_view times) {
    std::size_t count = 0;
    Unpacker version{versions};
    for (Unpacker member{members}; !member.empty(); ++count) {
      const auto due = member.record<layout::Due>();
      DueTask task;
      task.id = due.id;
      const Line& line = line_of(due.handler);
      task.handler = line.handler;
      task.task_class = line.task_class;
      task.version = to_millis(version.record<types::f64>());
      task.due = next_time(times);
      shard.tasks.push_back(task);
    }
    return count;
  }

  static void take_suspects(std::span<DueTask> tasks, std::string_view suspects) {
    for (Unpacker in{suspects}; !in.empty();) {
      const auto suspect = in.record<layout::Suspect>();
      tasks[suspect.place].suspicion = suspect.suspicion;
    }
  }

  static void take_retries(std::span<DueTask> tasks, std::string_view retries) {
    Unpacker in{retries};
    for (DueTask& task : tasks) task.retried = in.record<layout::Loaded>().retried != 0;
  }

  void go_on_after(Reading& reading, unsigned found, std::string_view place) {
    if (found == Found::something_else) ++unreadable_;
    if (found == Found::end_of_it || found == Found::something_else) return;
    const auto end = Unpacker{place}.record<layout::LoadPlace>();
    reading.cursor.place = end.place;
    reading.cursor.id = end.id;
    (found == Found::more ? left_ : full_).push_back(reading);
  }

  struct Line {
    std::uint32_t handler = 0;  // its index in the reply
    TaskClass task_class = TaskClass::normal;
  };
  const Line& line_of(unsigned number) {
    const auto known = by_number_.find(number);
    if (known != by_number_.end()) return known->second;
    const std::uint32_t handler = handlers_.number(part().name_of(number));
    return by_number_[number] = {handler, part().class_of(number)};
  }

  const LoadQuery& query_;
  Shards& shards_;
  Handlers& handlers_;
  std::map<unsigned, Line> by_number_;  // by the number in this part
  std::deque<Reading> left_;
  std::deque<Reading> full_;
  std::size_t unreadable_ = 0;
  TimePoint now_{};
};

// Adds tasks to the reply: up to the place to which all parts have been read, and at most `limit`.
void hand_over(ShardId id, Shard& shard, std::size_t limit, LoadReply& reply) {
  std::ranges::sort(shard.tasks, {}, place_of);
  if (shard.tasks.size() >= limit) shard.stop_at(place_of(shard.tasks[limit - 1]));
  for (const DueTask& task : shard.tasks) {
    if (shard.read_until && place_of(task) > *shard.read_until) break;
    reply.tasks.push_back(task);
  }
  if (shard.read_until) reply.more.push_back({id, shard.read_until->first, shard.read_until->second});
}

using Jobs = std::vector<std::unique_ptr<LoadJob>>;

// Shards that have too few tasks before the point up to which all parts have been read.
std::set<ShardId> wanting(const Jobs& jobs, Shards& shards, std::size_t limit) {
  for (auto& [id, shard] : shards) shard.read_until.reset();
  for (const auto& job : jobs) {
    if (!job->failure()) job->tell_ends();
  }
  std::set<ShardId> some;
  for (const auto& [id, shard] : shards) {
    if (shard.wants_more(limit)) some.insert(id);
  }
  return some;
}

// Keys are spread evenly, so an equal share from each part usually makes a page. If it does not, more is read.
void read(Parts& parts, const Jobs& jobs, Shards& shards, std::size_t limit, std::size_t share) {
  parts.run(CallKind::read, jobs);
  for (auto more = wanting(jobs, shards, limit); !more.empty(); more = wanting(jobs, shards, limit)) {
    for (const auto& job : jobs) job->go_on(more, share);
    parts.run(CallKind::read, jobs);
    share = std::min(2 * share, limit);
  }
}

}  // namespace

LoadReply load(Parts& parts, const LoadQuery& query) {
  LoadReply reply;
  if (query.from.empty() || query.limit == 0) {
    reply.now = parts.now();
    return reply;
  }
  Shards shards;
  Handlers handlers{reply.handlers};
  Jobs jobs;
  const std::size_t limit = std::min<std::size_t>(query.limit, 1'000'000);
  const std::size_t share = (limit + parts.size() - 1) / parts.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    jobs.push_back(std::make_unique<LoadJob>(parts.at(i), query, share, shards, handlers));
  }
  read(parts, jobs, shards, limit, share);
  if (std::ranges::all_of(jobs, [](const auto& job) { return job->failure() != nullptr; })) throw_failure(jobs);
  for (const auto& job : jobs) {
    if (job->failure()) reply.trouble = error_of(*job, "redis.load");
  }
  for (auto& [id, shard] : shards) hand_over(id, shard, limit, reply);
  reply.now = parts.time_of(jobs.front()->now());
  return reply;
}

}  // namespace easyretry::storage::redis
