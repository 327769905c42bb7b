#include "storage/redis/search.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <set>

#include "storage/list_walk.h"
#include "storage/redis/record_layout.h"
#include "storage/redis/records.h"
#include "task/task_id.h"

namespace easyretry::storage::redis {
namespace {

// The time in an id is the server's time as the storing process estimated it.
constexpr Millis kClocksDiffer = std::chrono::minutes{10};

double number(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string number(double value) {
  return std::to_string(static_cast<std::int64_t>(value));
}

TaskId id_of(std::string_view bytes) {
  return Unpacker{bytes}.record<types::id>();
}

task::KeyDigest digest_of(std::string_view bytes) {
  task::KeyDigest digest{};
  std::memcpy(digest.data(), bytes.data(), std::min(bytes.size(), digest.size()));
  return digest;
}

// True if no task can match.
bool contradicts_itself(const TaskQuery& query) {
  if (query.finished) return query.state && *query.state != TaskState::finished;
  return query.state == TaskState::finished || query.finished_at.restricts();
}

bool is_only_about_the_end(const TaskQuery& query) {
  return query.key.empty() && query.handler.empty() && query.business_type.empty() && query.business_id.empty() &&
         !query.outcome && !query.created_at.restricts() && (query.finished || !query.state);
}

struct Bounds {
  std::string from = "-inf";
  std::string until = "+inf";
};

Bounds bounds_of(const TimeRange& range) {
  Bounds bounds;
  if (range.from) bounds.from = std::to_string(range.from->time_since_epoch().count());
  if (range.until) bounds.until = "(" + std::to_string(range.until->time_since_epoch().count());
  return bounds;
}

// Reads the ids of live tasks slice by slice, in the order of the query. A slice begins with the ids that have the same
// score as the last one of the slice before: at most 1,024, fewer than a slice has.
class LiveWalk {
 public:
  LiveWalk(Part& part, std::string_view key, const TaskQuery& query)
      : part_(part), key_(key), query_(query), last_(ListWalk{query}.from()) {
    if (!query.created_at.from) return;
    const TaskId first = task::make_task_id(*query.created_at.from - kClocksDiffer, ShardId{}, 0);
    lowest_ = std::max(lowest_, first);
  }

  bool more() const { return more_; }

  std::vector<TaskId> next() {
    const ListWalk walk{query_};
    const Reply reply = slice(walk.down());
    std::vector<TaskId> ids;
    for (std::size_t i = 0; i + 1 < reply.size(); i += 2) {
      const TaskId id = id_from(number(reply.text(i + 1)), digest_of(reply.text(i)));
      if (walk.precedes(last_, id)) ids.push_back(id);
    }
    more_ = reply.size() / 2 == kIdsARead && !ids.empty();
    if (!ids.empty()) last_ = ids.back();
    return ids;
  }

 private:
  Reply slice(bool down) const {
    const std::string lowest = number(std::max(0.0, upper_bits(down ? lowest_ : std::max(lowest_, last_))));
    const std::string highest = down ? number(upper_bits(last_)) : "+inf";
    const std::string most = std::to_string(kIdsARead);
    return part_.read(Command::of(down ? "ZREVRANGEBYSCORE" : "ZRANGEBYSCORE", key_,
                                  std::string_view{down ? highest : lowest}, std::string_view{down ? lowest : highest},
                                  "WITHSCORES", "LIMIT", "0", std::string_view{most}));
  }

  Part& part_;
  const std::string_view key_;
  const TaskQuery& query_;
  TaskId last_;  // of the slices so far
  TaskId lowest_{};
  bool more_ = true;
};

class FindJob final : public Job {
 public:
  using Job::Job;
  void add(TaskId id, std::size_t /*place*/) { ids_.push_back(id); }
  std::vector<TaskRecord>& found() { return found_; }

  bool done() const override { return from_ == ids_.size(); }
  ScriptCall next() override {
    ScriptCall call = part().script(scripts::find);
    const Keys& keys = part().keys();
    call.keys.insert(call.keys.end(), {keys.body(), keys.meta(), keys.done(), keys.requeued(), keys.results()});
    Packer packed;
    for (const TaskId id : slice()) packed.bytes(id_bytes(id));
    call.arguments.push_back(packed.take());
    return call;
  }
  void take(const Reply& reply) override {
    const NameTexts texts = [this](unsigned name) { return part().name_of(name); };
    const auto some = slice();
    for (std::size_t i = 0; i < some.size(); ++i) {
      const std::size_t at = 1 + 5 * i;
      if (reply.has(at)) {
        found_.push_back(live_record(some[i], reply.text(at), reply.text(at + 1), texts));
      } else if (reply.has(at + 2)) {
        found_.push_back(ended_record(some[i], reply.text(at + 2), texts));
        if (reply.has(at + 3)) found_.back().info.requeued_as = id_of(reply.text(at + 3));
        if (reply.has(at + 4)) found_.back().result = reply.text(at + 4);
      }
    }
    from_ += some.size();
  }

 private:
  std::span<const TaskId> slice() const {
    return std::span{ids_}.subspan(from_, std::min(kItemsACall, ids_.size() - from_));
  }

  std::vector<TaskId> ids_;
  std::size_t from_ = 0;
  std::vector<TaskRecord> found_;
};

}  // namespace

std::vector<TaskRecord> Search::find(std::span<const TaskId> ids) {
  const std::set<TaskId> unique{ids.begin(), ids.end()};
  const std::vector<TaskId> wanted{unique.begin(), unique.end()};
  const auto jobs = parts_.jobs_for<FindJob>(wanted, std::identity{});
  parts_.run(CallKind::read, jobs);
  throw_failure(jobs);
  std::vector<TaskRecord> found;
  for (const auto& job : jobs) std::ranges::move(job->found(), std::back_inserter(found));
  return found;
}

std::vector<TaskRecord> Search::list(const TaskQuery& query) {
  std::vector<TaskRecord> page;
  if (query.limit == 0 || contradicts_itself(query)) return page;
  for (const Scope& scope : scopes_of(query)) {
    std::size_t wanted = query.limit;
    each(scope, query, [&](TaskRecord record) {
      if (record.info.state == TaskState::finished)
        record.result.clear();  // results are only for requests for one task
      record.info.last_attempts.clear();
      page.push_back(std::move(record));
      return --wanted > 0;
    });
  }
  ListWalk{query}.cut_to_page(page);
  return page;
}

std::int64_t Search::count(const TaskQuery& asked) {
  if (contradicts_itself(asked)) return 0;
  TaskQuery query = asked;
  query.after = TaskId{};
  std::int64_t count = 0;
  for (const Scope& scope : scopes_of(query)) {
    if (const auto quickly = counted_by_server(scope, query)) {
      count += *quickly;
    } else {
      each(scope, query, [&](const TaskRecord&) { return ++count > 0; });
    }
  }
  return count;
}

std::optional<std::int64_t> Search::counted_by_server(const Scope& scope, const TaskQuery& query) {
  if (!is_only_about_the_end(query)) return std::nullopt;
  const auto& [part, name_space] = scope;
  const Keys& keys = part.keys();
  const Bounds bounds = bounds_of(query.finished_at);
  const auto within = [&](const std::string& key) {
    const std::string_view from{bounds.from};
    const std::string_view until{bounds.until};
    return scope.part.read(Command::of("ZCOUNT", std::string_view{key}, from, until)).integer();
  };
  if (!query.finished) return within(keys.keys(name_space));
  const std::int64_t all = within(keys.ended(name_space)) + within(keys.dead(name_space));
  return query.requeued ? all : all - count_marks(scope, query);
}

// The number of tasks of the scope that were requeued and ended in the range of the query.
std::int64_t Search::count_marks(const Scope& scope, const TaskQuery& query) {
  Part& part = scope.part;
  const std::string key = part.keys().requeued();
  const std::string most = std::to_string(kIdsARead);
  std::set<std::string> ids;  // a scan may return one twice
  std::string cursor = "0";
  do {
    const Reply some = part.read(
        Command::of("HSCAN", std::string_view{key}, std::string_view{cursor}, "COUNT", std::string_view{most}));
    cursor = some.size() == 2 ? std::string{some.text(0)} : "0";
    const std::size_t texts = some.size() == 2 ? some.part(1).size() : 0;
    for (std::size_t i = 0; i + 1 < texts; i += 2) ids.emplace(some.part(1).text(i));
  } while (cursor != "0");
  const std::vector<std::string> all{ids.begin(), ids.end()};
  std::int64_t count = 0;
  for (const std::string& set : {part.keys().ended(scope.name_space), part.keys().dead(scope.name_space)}) {
    for (std::size_t from = 0; from < all.size(); from += kIdsARead) {
      const auto slice = std::span{all}.subspan(from, std::min(kIdsARead, all.size() - from));
      count += count_members(part, set, slice, query.finished_at);
    }
  }
  return count;
}

std::int64_t Search::count_members(Part& part, const std::string& set, std::span<const std::string> ids,
                                   const TimeRange& range) {
  Command scores = Command::of("ZMSCORE", std::string_view{set});
  for (const std::string& id : ids) scores.add(id);
  const Reply reply = part.read(scores);
  std::int64_t count = 0;
  for (std::size_t i = 0; i < reply.size(); ++i) {
    if (reply.has(i) && range.contains(to_time(number(reply.text(i))))) ++count;
  }
  return count;
}

// A key of a namespace can be in one part only.
std::vector<Search::Scope> Search::scopes_of(const TaskQuery& query) {
  std::vector<Scope> scopes;
  if (!query.name_space.empty() && !query.key.empty()) {
    const unsigned sequence = sequence_of(task::key_digest(query.name_space, query.key));
    scopes.push_back({parts_.at(parts_.number_for(sequence)), query.name_space});
    return scopes;
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_.at(i);
    if (!query.name_space.empty()) {
      scopes.push_back({part, query.name_space});
      continue;
    }
    for (const Name& name_space : part.namespaces()) scopes.push_back({part, name_space.text});
  }
  return scopes;
}

bool Search::may_match(TaskId id, const TaskQuery& query) const {
  if (!ListWalk{query}.reaches(id)) return false;
  if (!query.key.empty() && !query.name_space.empty()) {
    const auto mask = (std::int64_t{1} << task::kSequenceBits) - 1;
    if ((static_cast<std::int64_t>(id) & mask) != sequence_of(task::key_digest(query.name_space, query.key)))
      return false;
  }
  if (!query.business_id.empty() &&
      task::shard_of(id, total_shards_) != task::shard_for(query.business_id, {}, total_shards_)) {
    return false;
  }
  return !query.created_at.from || task::created_at(id) >= *query.created_at.from - kClocksDiffer;
}

void Search::each(const Scope& scope, const TaskQuery& asked, const Visit& visit) {
  TaskQuery query = asked;
  query.name_space = scope.name_space;
  query.finished ? each_ended(scope, query, visit) : each_live(scope, query, visit);
}

bool Search::visit_matches(std::span<const TaskId> ids, const TaskQuery& query, const Visit& visit) {
  for (std::size_t from = 0; from < ids.size(); from += kItemsACall) {
    std::vector<TaskRecord> found = find(ids.subspan(from, std::min(kItemsACall, ids.size() - from)));
    ListWalk{query}.sort(found);
    for (TaskRecord& record : found) {
      const bool ended = record.info.state == TaskState::finished;
      if (ended == query.finished && matches(record, query) && !visit(std::move(record))) return false;
    }
  }
  return true;
}

void Search::each_live(const Scope& scope, const TaskQuery& query, const Visit& visit) {
  Part& part = scope.part;
  const std::string key = part.keys().keys(scope.name_space);
  if (!query.key.empty()) {
    const auto digest = task::key_digest(scope.name_space, query.key);
    const Reply reply = part.read(Command::of("ZSCORE", std::string_view{key}, bytes_of(digest)));
    if (reply.text().empty()) return;
    const TaskId id = id_from(number(reply.text()), digest);
    if (ListWalk{query}.reaches(id)) visit_matches({&id, 1}, query, visit);
    return;
  }
  LiveWalk walk{part, key, query};
  while (walk.more()) {
    std::vector<TaskId> ids = walk.next();
    std::erase_if(ids, [&](TaskId id) { return !may_match(id, query); });
    if (!visit_matches(ids, query, visit)) return;
  }
}

// There are no more than the limit of the history, and only ids are read.
void Search::each_ended(const Scope& scope, const TaskQuery& query, const Visit& visit) {
  Part& part = scope.part;
  std::vector<TaskId> ids = ended_ids(part, part.keys().ended(scope.name_space), query);
  const std::vector<TaskId> dead = ended_ids(part, part.keys().dead(scope.name_space), query);
  ids.insert(ids.end(), dead.begin(), dead.end());
  std::ranges::sort(ids, [walk = ListWalk{query}](TaskId a, TaskId b) { return walk.precedes(a, b); });
  visit_matches(ids, query, visit);
}

std::vector<TaskId> Search::ended_ids(Part& part, const std::string& key, const TaskQuery& query) {
  const auto [from, until] = bounds_of(query.finished_at);
  const std::string most = std::to_string(kIdsARead);
  std::vector<TaskId> ids;
  for (std::size_t at = 0;; at += kIdsARead) {
    const std::string offset = std::to_string(at);
    const Reply reply =
        part.read(Command::of("ZRANGEBYSCORE", std::string_view{key}, std::string_view{from}, std::string_view{until},
                              "LIMIT", std::string_view{offset}, std::string_view{most}));
    for (std::size_t i = 0; i < reply.size(); ++i) {
      const TaskId id = id_of(reply.text(i));
      if (may_match(id, query)) ids.push_back(id);
    }
    if (reply.size() < kIdsARead) return ids;
  }
}

}  // namespace easyretry::storage::redis
