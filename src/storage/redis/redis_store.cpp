#include "storage/redis/redis_store.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "storage/checks.h"
#include "storage/member_text.h"
#include "storage/redis/changer.h"
#include "storage/redis/housekeeping.h"
#include "storage/redis/inserter.h"
#include "storage/redis/notifier.h"
#include "storage/redis/parts.h"
#include "storage/redis/record_layout.h"
#include "storage/redis/search.h"
#include "storage/redis/set_up.h"
#include "storage/retention.h"
#include "storage/server/group_inserts.h"
#include "storage/server/server_error.h"

namespace easyretry::storage::redis {
namespace {

// Only reads if there is no node. A beat is repeated within seconds, so it does not wait for replicas unless an
// instance relies on it, and a beat without an answer is simply sent again.
BeatReply beat(Part& part, const Beat& beat) {
  ScriptCall call = part.script(scripts::beat);
  call.keys.push_back(part.keys().members(beat.name_space));
  call.arguments.emplace_back(beat.node);
  call.arguments.push_back(std::to_string(beat.ttl.count()));
  call.arguments.push_back(member_text(beat.says, beat.handlers));
  const Reply reply = beat.promise == Promise::kept ? part.write_soon(call) : part.read(call);
  BeatReply answer{TimePoint{Millis{reply.integer(0)}}, {}};
  for (std::size_t i = 1; i + 2 < reply.size(); i += 3) {
    Member& member = answer.members.emplace_back();
    member.node = reply.text(i);
    member.since = Unpacker{reply.text(i + 1)}.record<types::time>();
    read_member_text(reply.text(i + 2), member);
  }
  std::ranges::sort(answer.members, {}, &Member::node);
  return answer;
}

bool leave(Part& part, std::string_view name_space, std::string_view node) {
  const std::string key = part.keys().members(name_space);
  return part.write(Command::of("HDEL", std::string_view{key}, node)).integer() > 0;
}

ScriptCall pause_call(Part& part, const Script& script, std::string_view name_space) {
  ScriptCall call = part.script(script);
  call.keys.push_back(part.keys().paused(name_space));
  return call;
}

PauseOutcome pause(Part& part, std::string_view name_space, std::string_view handler, std::string_view why) {
  ScriptCall call = pause_call(part, scripts::pause, name_space);
  call.arguments.emplace_back(handler);
  call.arguments.emplace_back(why);
  call.arguments.push_back(std::to_string(kMostPaused));
  const Reply reply = part.write_soon(call);
  if (reply.text(1) == layout::PauseAnswer::too_many) return PauseOutcome::too_many;
  return reply.text(1) == layout::PauseAnswer::paused ? PauseOutcome::paused : PauseOutcome::was_paused;
}

bool resume(Part& part, std::string_view name_space, std::string_view handler) {
  ScriptCall call = pause_call(part, scripts::resume, name_space);
  call.arguments.emplace_back(handler);
  return part.write_soon(call).integer(1) > 0;
}

// May be repeated.
bool save_series(Part& part, std::string_view name_space, const SeriesPart& series) {
  const std::string key = part.keys().series(name_space);
  const std::string number = std::to_string(series.number);
  part.write(Command::of("HSET", std::string_view{key}, std::string_view{number}, std::string_view{series.text}));
  return true;
}

std::vector<SeriesPart> saved_series(Part& part, std::string_view name_space) {
  const std::string key = part.keys().series(name_space);
  const Reply reply = part.read(Command::of("HGETALL", std::string_view{key}));
  std::vector<SeriesPart> parts;
  for (std::size_t i = 0; i + 1 < reply.size(); i += 2) {
    SeriesPart& one = parts.emplace_back(SeriesPart{.text = std::string{reply.text(i + 1)}});
    const std::string_view number = reply.text(i);
    std::from_chars(number.data(), number.data() + number.size(), one.number);
  }
  std::ranges::sort(parts, {}, &SeriesPart::number);
  return parts;
}

PausedReply paused(Part& part, std::string_view name_space) {
  const Reply reply = part.read(pause_call(part, scripts::paused, name_space));
  PausedReply answer{TimePoint{Millis{reply.integer(0)}}, {}};
  for (std::size_t i = 1; i + 1 < reply.size(); i += 2) {
    Unpacker value{reply.text(i + 1)};
    const auto paused = value.record<layout::Paused>();
    answer.handlers.push_back({std::string{reply.text(i)}, paused.since, std::string{value.rest()}});
  }
  std::ranges::sort(answer.handlers, {}, &PausedHandler::handler);
  return answer;
}

}  // namespace
}  // namespace easyretry::storage::redis

namespace easyretry::storage {
namespace {

using server::Refusal;
using server::ServerError;
using server::Trouble;

Error to_error(const ServerError& error, std::string_view where, bool begun) {
  const bool lost = dynamic_cast<const redis::LostReply*>(&error) != nullptr;
  Errc code = Errc::unavailable;
  if (error.trouble() == Trouble::bad_data) code = Errc::invalid_argument;
  if (lost || begun) code = Errc::in_doubt;
  return {code, std::string{where}, error.what()};
}

// body(begun) -> answer; the body sets `begun` after a part of the request is done.
template <class Body>
auto answer(std::string_view where, Body body) -> Result<decltype(body(std::declval<bool&>()))> {
  bool begun = false;
  try {
    return body(begun);
  } catch (const ServerError& error) {
    return tl::make_unexpected(to_error(error, where, begun));
  } catch (const Refusal& refusal) {
    return tl::make_unexpected(refusal.error);
  } catch (const StoreError& error) {
    return tl::make_unexpected(error.error());
  } catch (const std::exception& error) {
    return fail(begun ? Errc::in_doubt : Errc::unavailable, where, error.what());
  }
}

std::unique_ptr<redis::Topology> topology_of(const RedisOptions& options) {
  if (options.is_cluster()) return std::make_unique<redis::ClusterMap>(options.nodes, options.address);
  if (!options.sentinels.empty()) {
    return std::make_unique<redis::Sentinels>(options.sentinels, options.service, options.address);
  }
  return std::make_unique<redis::OneServer>(options.address.endpoint());
}

std::vector<std::string> tags_of(const RedisOptions& options) {
  std::vector<std::string> tags{options.prefix};
  if (options.is_cluster())
    std::ranges::move(redis::spread_tags(options.prefix, options.tags), std::back_inserter(tags));
  return tags;
}

redis::LinkOptions link_options(const RedisOptions& options, const std::vector<std::string>& tags) {
  redis::LinkOptions link{.address = options.address, .connections = options.connections, .slots = {}};
  for (const std::string& tag : tags) link.slots.push_back(redis::slot_of(tag));
  return link;
}

class RedisStore final : public Store {
 public:
  explicit RedisStore(const RedisOptions& options)
      : options_(options),
        parts_(parts_options()),
        inserter_(parts_, options.total_shards),
        changer_(parts_, options_),
        search_(parts_, options.total_shards),
        notifier_(redis::make_notifier(parts_.link(), options.prefix, options.address.database)) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      inserts_.push_back(std::make_unique<server::GroupInserts>(
          "redis.insert",
          [this](std::span<const NewTask* const> tasks, server::Locks) { return insert_together(tasks); }));
    }
  }

  StoreInfo info() const override {
    const std::lock_guard lock{mutex_};
    return {.url = options_.url,
            .total_shards = options_.total_shards,
            .durability = durability_,
            .shared = true,
            // A server that has lost its replicas, or whose disk fails, still answers reads, and refuses renewals,
            // because they write.
            .reads_run_ahead = true};
  }

  InsertResult insert(std::span<const NewTask> tasks) override {
    if (auto error = refuse_batch(tasks, "redis.insert")) return tl::make_unexpected(*std::move(error));
    if (const auto part = inserter_.only_part(tasks)) return inserts_[*part]->insert(tasks);
    return insert_together(server::pointers(tasks));
  }
  Result<LoadReply> load(const LoadQuery& query) override {
    return answer("redis.load", [&](bool&) { return redis::load(parts_, query); });
  }
  Result<ClaimReply> claim(const ClaimRequest& request) override {
    return answer("redis.claim", [&](bool&) { return changer_.claim(request); });
  }
  Result<Applied> settle(std::span<const Settlement> settlements) override {
    return answer("redis.settle", [&](bool& begun) { return changer_.settle(settlements, begun); });
  }
  Result<Applied> renew(std::span<const Renewal> renewals) override {
    return answer("redis.renew", [&](bool& begun) { return changer_.renew(renewals, begun); });
  }
  Result<std::vector<TaskRecord>> find(std::span<const TaskId> ids) override {
    return answer("redis.find", [&](bool&) { return search_.find(ids); });
  }
  Result<std::vector<TaskRecord>> list(const TaskQuery& query) override {
    return answer("redis.list", [&](bool&) { return search_.list(query); });
  }
  Result<std::int64_t> count(const TaskQuery& query) override {
    return answer("redis.count", [&](bool&) { return search_.count(query); });
  }
  Result<Counts> counts(std::string_view name_space) override {
    return answer("redis.counts", [&](bool&) { return redis::counts(parts_, name_space); });
  }
  Result<Applied> revise(std::span<const Revision> revisions) override {
    return answer("redis.revise", [&](bool& begun) { return changer_.revise(revisions, begun); });
  }
  Result<Applied> end(std::span<const Ending> endings) override {
    return answer("redis.end", [&](bool& begun) { return changer_.end(endings, begun); });
  }
  Result<std::vector<std::optional<TaskId>>> requeue(std::span<const TaskId> ids,
                                                     std::optional<TaskClass> as) override {
    return answer("redis.requeue", [&](bool& begun) { return requeue_now(ids, {}, as, begun); });
  }

  Result<std::optional<TaskId>> requeue_with(TaskId id, std::string_view arguments,
                                             std::optional<TaskClass> as) override {
    return answer("redis.requeue", [&](bool& begun) { return requeue_now({&id, 1}, arguments, as, begun).front(); });
  }
  Result<BeatReply> beat(const Beat& beat) override {
    return answer("redis.beat", [&](bool&) { return redis::beat(parts_.home(), beat); });
  }
  Result<BeatReply> members(std::string_view name_space) override {
    return answer("redis.members",
                  [&](bool&) { return redis::beat(parts_.home(), {.name_space = name_space, .node = {}}); });
  }
  Result<bool> leave(std::string_view name_space, std::string_view node) override {
    return answer("redis.leave", [&](bool&) { return redis::leave(parts_.home(), name_space, node); });
  }
  Result<bool> pause(std::string_view name_space, std::string_view handler, std::string_view why) override {
    if (auto error = refuse_pause(name_space, handler, why, "redis.pause"))
      return tl::make_unexpected(*std::move(error));
    return answer("redis.pause", [&](bool&) { return redis::pause(parts_.home(), name_space, handler, why); })
        .and_then([](PauseOutcome outcome) { return answer_of(outcome, "redis.pause"); });
  }
  Result<bool> resume(std::string_view name_space, std::string_view handler) override {
    return answer("redis.resume", [&](bool&) { return redis::resume(parts_.home(), name_space, handler); });
  }
  Result<bool> save_series(std::string_view name_space, const SeriesPart& part) override {
    return answer("redis.save_series", [&](bool&) { return redis::save_series(parts_.home(), name_space, part); });
  }

  Result<std::vector<SeriesPart>> saved_series(std::string_view name_space) override {
    return answer("redis.saved_series", [&](bool&) { return redis::saved_series(parts_.home(), name_space); });
  }

  Result<PausedReply> paused(std::string_view name_space) override {
    return answer("redis.paused", [&](bool&) { return redis::paused(parts_.home(), name_space); });
  }
  Result<KeepReport> keep() override {
    return answer("redis.keep", [&](bool&) { return redis::keep(parts_, options_); });
  }
  Result<bool> expire(std::span<const Retention> rules) override {
    return answer("redis.expire", [&](bool&) { return redis::expire(parts_, rules); });
  }
  void announce(const std::string& name_space) override { notifier_->announce(name_space); }
  std::unique_ptr<Subscription> listen(const std::string& name_space, std::function<void()> wake) override {
    return notifier_->listen(name_space, std::move(wake));
  }

 private:
  redis::PartsOptions parts_options() {
    redis::PartsOptions parts;
    parts.topology = topology_of(options_);
    parts.tags = tags_of(options_);
    parts.link = link_options(options_, parts.tags);
    parts.each = {.tag = {},
                  .confirmation = options_.confirmation,
                  .clock = options_.clock,
                  .open = [this](const redis::Keys& keys, const redis::Ask& ask) { return open(keys, ask); }};
    return parts;
  }

  // Reports the durability of the first server. All servers should have the same.
  std::string open(const redis::Keys& keys, const redis::Ask& ask) {
    redis::Opened opened = redis::set_up(keys, ask, options_);
    const std::lock_guard lock{mutex_};
    if (durability_.words.empty()) durability_ = std::move(opened.durability);
    return std::move(opened.incarnation);
  }

  InsertResult insert_together(std::span<const NewTask* const> tasks) {
    std::vector<TaskId> ids;
    auto reply = answer("redis.insert", [&](bool& begun) { return inserter_.insert(tasks, begun, ids); });
    if (reply || reply.error().code != Errc::in_doubt) return reply;
    return tl::make_unexpected(InsertFailure{std::move(reply.error()), std::move(ids)});
  }

  // With these arguments and this class, or with those of the ended task.
  std::vector<std::optional<TaskId>> requeue_now(std::span<const TaskId> ids, std::optional<std::string_view> arguments,
                                                 std::optional<TaskClass> as, bool& begun) {
    std::map<TaskId, TaskRecord> ended;
    for (TaskRecord& record : search_.find(ids)) {
      if (arguments) record.payload = *arguments;
      if (as) record.info.task_class = *as;
      const bool can_start = record.info.state == TaskState::finished && !lacks_arguments(record);
      if (can_start) ended.emplace(record.info.id, std::move(record));
    }
    std::vector<TaskRecord> wanted;
    for (const TaskId id : ids) {
      if (ended.contains(id)) wanted.push_back(ended.at(id));
    }
    const auto started = inserter_.start_again(wanted, begun);
    std::vector<std::optional<TaskId>> answers;
    auto next = started.begin();
    for (const TaskId id : ids) answers.push_back(ended.contains(id) ? *next++ : std::nullopt);
    return answers;
  }

  const RedisOptions options_;
  mutable std::mutex mutex_;  // guards the next
  Durability durability_;
  redis::Parts parts_;
  redis::Inserter inserter_;
  redis::Changer changer_;
  redis::Search search_;
  // One per part: if one cannot be reached, inserts into the others do not fail with it.
  std::vector<std::unique_ptr<server::GroupInserts>> inserts_;
  const std::unique_ptr<server::Notifier> notifier_;
};

}  // namespace

std::unique_ptr<Store> open_redis(const RedisOptions& options) {
  try {
    return std::make_unique<RedisStore>(options);
  } catch (const ServerError& error) {
    throw StoreError{to_error(error, "redis.open", false)};
  }
}

namespace {

// Asks a server before a store is opened: read(keys, ask).
template <class Read>
auto before_opening(const RedisOptions& options, Read read) {
  try {
    redis::Link link{topology_of(options), link_options(options, {options.prefix})};
    return read(redis::Keys{options.prefix}, [&](const redis::Command& command) {
      return link.run(redis::Lane::control, redis::slot_of(options.prefix), command);
    });
  } catch (const ServerError& error) {
    throw StoreError{to_error(error, "redis.open", false)};
  }
}

}  // namespace

std::optional<StoredSettings> redis_settings(const RedisOptions& options) {
  const auto shards = before_opening(
      options, [](const redis::Keys& keys, const redis::Ask& ask) { return redis::stored_shards(keys, ask); });
  if (!shards) return std::nullopt;
  return StoredSettings{.total_shards = *shards, .layout = "single"};
}

// There has been one layout so far: opening creates it. Any other one is refused, also by a plan.
MigrationPlan migrate_redis(const RedisOptions& options, const MigrateRequest& request) {
  const auto stored = before_opening(options, [&](const redis::Keys& keys, const redis::Ask& ask) {
    return redis::stored_version(keys, ask, options);
  });
  MigrationPlan plan{.from = stored.value_or(0)};
  plan.to = target_version(request, plan.from, redis::kLayoutVersion);
  if (!request.only_plan && plan.to > plan.from) open_redis(options);
  return plan;
}

}  // namespace easyretry::storage
