#include "engine/loader.h"

#include <algorithm>

#include "task/task_id.h"

namespace easyretry::engine {
namespace {

// Small pages while many shards have many tasks; reading is ahead of claiming by one page per shard.
constexpr std::size_t kSmallestPage = 16;

// Fewer than there is room for: the first tasks can be claimed while the rest is read.
constexpr std::size_t kTasksPerRead = 10'000;

// If a transaction takes longer to commit, the ordinary passes find its tasks.
constexpr Millis kExpectation{2000};
constexpr Millis kPassesWhileExpecting{20};

constexpr Millis kPassesForNews{2};

// Polling must be cheap: after a slow pass there is a pause this many times as long.
constexpr int kRestAfterPolling = 20;

// An instance that stands by for a task leaves it to its owner for this long.
constexpr Millis kOwnersFirst{100};

// In place of a handler's number.
constexpr int kUnknown = -1;
constexpr int kPaused = -2;

constexpr std::size_t kLines = 2 * kClasses;  // of a handler: of each class retries, if they wait apart, and others

}  // namespace

Loader::Loader(Context& context, Schedule& schedule, const storage::StoreInfo& store, std::function<void()> inbox_waits)
    : context_(context),
      schedule_(schedule),
      all_shards_(ShardSet::all(store.total_shards)),
      shared_(store.shared),
      has_inbox_(store.inbox),
      inbox_waits_(std::move(inbox_waits)),
      owned_(std::make_shared<Ownership>(std::vector<ShardId>{all_shards_.list().begin(), all_shards_.list().end()})),
      next_sweep_(context.clock.steady() + context.live.grace.load()) {
  schedule.reload_with(wakeup);
}

void Loader::stop() {
  stopped_ = true;
  wakeup.notify();
}

void Loader::hurry() {
  hurry_ = true;
  wakeup.notify();
}

void Loader::look_soon() {
  news_ = true;
  wakeup.notify();
}

void Loader::something_came() {
  came_ = true;
  hurry();
}

void Loader::expect_more() {
  expecting_until_ = context_.clock.steady() + kExpectation;
  hurry();
}

bool Loader::own(Ownership owned) {
  {
    const std::lock_guard lock{mutex_};
    if (owned == *owned_) return false;
    owned_ = std::make_shared<Ownership>(std::move(owned));
  }
  hurry();
  return true;
}

std::shared_ptr<const Ownership> Loader::owned() const {
  const std::lock_guard lock{mutex_};
  return owned_;
}

std::map<std::string, std::uint64_t> Loader::no_handler() const {
  const std::lock_guard lock{mutex_};
  return no_handler_;
}

Step Loader::step() {
  if (stopped_) return {};
  const Instant now = context_.clock.steady();
  const bool left_out = !in_pass_ && schedule_.take_reload_wanted();  // otherwise it waits for the end of the pass
  const bool news = news_ && !in_pass_ && now >= earliest_pass_;
  if (hurry_.exchange(false) || left_out || news || now >= next_pass_) begin_pass();
  if (!in_pass_) return {false, news_ ? std::min(earliest_pass_, next_pass_) : next_pass_};

  const std::size_t room = schedule_.room();
  // Memory is full: the pass goes on when the Schedule has half of it free again and wakes us up. Half is enough even
  // if that is less than a page for each shard, or nothing would ever be read.
  const std::size_t wanted = kSmallestPage * std::max<std::size_t>(cursors_.size(), 1);
  if (room < std::min(wanted, context_.options.read_ahead / 2)) {
    schedule_.want_room();
    return {false, next_pass_};
  }
  auto reply = read(room);
  if (!reply) return pause();
  failures_ = 0;
  hand_over(*reply);
  cursors_ = std::move(reply->more);
  if (cursors_.empty()) end_pass();
  return Step::again();
}

void Loader::begin_pass() {
  const Instant now = context_.clock.steady();
  in_pass_ = true;
  pass_began_ = now;
  reading_ = {};
  // A pass that takes longer starts over: tasks stored behind its cursors must not wait for its end.
  next_pass_ = now + context_.live.window.load();
  passing_over_ = false;
  next_sweep_ = std::min<Instant>(next_sweep_, now + context_.live.grace.load());  // it may be shorter now
  sweeping_ = now >= next_sweep_;
  unhandled_.clear();
  cursors_.clear();
  if (sweeping_) {
    next_sweep_ = now + context_.live.grace.load();
  } else {
    news_ = false;
  }
  const auto owned = this->owned();
  for (const ShardId shard : (sweeping_ ? all_shards_ : owned->shards()).list()) cursors_.push_back({shard});
}

// A pass that had to read a lot is not repeated at once: reading takes less than a quarter of the time. But a store
// that was slow for a moment, or a pass that waited for room, must not delay abandoned tasks by more than a window.
// Only if a pass has to skip so many tasks of paused handlers that a window is not enough, reading takes half of the
// time.
void Loader::end_pass() {
  const Instant now = context_.clock.steady();
  in_pass_ = false;
  if (sweeping_) {
    next_pass_ = now;
    return;
  }
  const Instant::duration window = context_.live.window.load();
  const Instant::duration most = passing_over_ ? std::max(window, 2 * reading_) : window;
  earliest_pass_ = pass_began_ + std::clamp<Instant::duration>(4 * reading_, kPassesForNews, most);
  next_pass_ = pass_began_ + std::clamp(4 * reading_, std::min(least_pause(now), window), most);
  report_unhandled();
}

Instant::duration Loader::least_pause(Instant now) const {
  if (now < expecting_until_.load()) return kPassesWhileExpecting;
  const Instant::duration usual = context_.live.window.load() / 2;
  if (!shared_ || has_news_) return usual;
  return std::min(usual, std::max(kRestAfterPolling * reading_, poll_pace_.pause(now, context_.live.poll.load())));
}

void Loader::report_unhandled() {
  const std::lock_guard lock{mutex_};
  for (const auto& [name, tasks] : unhandled_) {
    if (no_handler_.contains(name)) continue;
    context_.log(LogLevel::warning, std::to_string(tasks) + " due task(s) wait for a handler named \"" + name +
                                        "\", which is not registered here");
  }
  no_handler_ = unhandled_;
}

Result<storage::LoadReply> Loader::read(std::size_t room) {
  std::vector<std::string> handlers;
  if (has_inbox_) handlers = context_.handlers.snapshot()->names();
  storage::LoadQuery query;
  query.handlers = handlers;
  query.name_space = context_.options.name_space;
  query.from = cursors_;
  query.ahead = sweeping_ ? -context_.live.grace.load() : context_.live.window.load();
  // Not std::clamp: the batch may be smaller than the smallest page.
  const std::size_t share = std::min(room, kTasksPerRead) / std::max<std::size_t>(cursors_.size(), 1);
  query.limit = std::min(std::max(share, kSmallestPage), context_.live.batch.load());
  const Instant asked = context_.clock.steady();
  auto reply = context_.ask(StoreVerb::load, [&](storage::Store& store) { return store.load(query); });
  reading_ += context_.clock.steady() - asked;
  return reply;
}

void Loader::hand_over(const storage::LoadReply& reply) {
  const std::vector<Named> handlers = handlers_of(reply.handlers);
  const auto owned = this->owned();
  std::vector<const Ownership::Part*> parts;
  parts.reserve(reply.handlers.size());
  for (const std::string& name : reply.handlers) parts.push_back(&owned->part(name));
  const int total_shards = static_cast<int>(all_shards_.list().size());
  offers_.clear();
  room_.assign(reply.handlers.size() * kLines, std::nullopt);
  left_out_ = false;
  for (const DueTask& loaded : reply.tasks) {
    // Tasks overdue by more than `grace` are for every instance.
    const auto role =
        sweeping_ ? Ownership::Role::owns : parts[loaded.handler]->role(task::shard_of(loaded.id, total_shards));
    take(loaded, handlers[loaded.handler], role, reply);
  }
  // The pass continues to later tasks, however many tasks this instance may not run or has no room for.
  if (left_out_ || (offers_.empty() && !reply.tasks.empty())) {
    passing_over_ = true;
    next_pass_ = std::max(next_pass_, context_.clock.steady() + context_.live.window.load());
  }
  const bool came = came_.exchange(false);
  if (came || !offers_.empty()) poll_pace_.found(context_.clock.steady());
  schedule_.offer(offers_);
  if (reply.inbox) inbox_waits_();
}

void Loader::take(const DueTask& loaded, const Named& handler, Ownership::Role role, const storage::LoadReply& reply) {
  if (role == Ownership::Role::none) return;
  if (handler.number >= 0) {
    if (!takes_room(loaded, handler)) return;
    const bool yields = role == Ownership::Role::stands_by;
    DueTask& task = offers_.emplace_back(loaded);
    task.handler = static_cast<std::uint32_t>(handler.number);
    if (yields) task.due = std::max(loaded.due, reply.now) + kOwnersFirst;
  } else if (handler.number == kUnknown && role == Ownership::Role::owns && loaded.due <= reply.now) {
    ++unhandled_[reply.handlers[loaded.handler]];
  }
}

// Whether there is room for one more due task of its line.
bool Loader::takes_room(const DueTask& loaded, const Named& handler) {
  Line line = line_of(loaded);
  line.handler = static_cast<std::uint32_t>(handler.number);
  line.retried = line.retried && handler.keeps_retries_apart;
  const std::size_t place = 2 * static_cast<std::size_t>(line.task_class) + (line.retried ? 1 : 0);
  std::optional<std::size_t>& room = room_[loaded.handler * kLines + place];
  if (!room) room = schedule_.room_for(line);
  if (*room > 0) {
    --*room;
    return true;
  }
  left_out_ = true;
  schedule_.leave_out(line);
  return false;
}

std::vector<Loader::Named> Loader::handlers_of(const std::vector<std::string>& names) {
  const auto table = context_.handlers.snapshot();
  std::vector<Named> handlers;
  handlers.reserve(names.size());
  for (const std::string& name : names) {
    const auto found = table->by_name.find(name);
    if (found == table->by_name.end()) {
      handlers.push_back({kUnknown});
    } else {
      handlers.push_back({context_.is_paused(found->second) ? kPaused : found->second,
                          table->by_number[found->second]->keeps_retries_apart()});
    }
  }
  return handlers;
}

Step Loader::pause() {
  in_pass_ = false;
  next_pass_ = context_.clock.steady() + pause_after_failures(failures_++, context_.random);
  earliest_pass_ = next_pass_;
  return {false, next_pass_};
}

}  // namespace easyretry::engine
