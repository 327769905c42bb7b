#include "mxrmq/import.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <vector>

#include "mxrmq/import_target.h"
#include "mxrmq/message.h"
#include "mxrmq/operations.h"
#include "mxrmq/settler.h"

namespace easyretry::mxrmq {
namespace {

constexpr Millis kImportLease = std::chrono::minutes{5};

struct FoundMessage {
  LeasedMessage taken;
  std::optional<TimePoint> run_at{};
  bool before = false;  // an earlier import had taken it
  std::string topic;
};

std::optional<TimePoint> time_of(std::string_view millis) {
  double value = 0;  // a Redis score
  if (std::from_chars(millis.data(), millis.data() + millis.size(), value).ec != std::errc{}) return std::nullopt;
  return TimePoint{Millis{static_cast<std::int64_t>(value)}};
}

class Import {
 public:
  Import(QueueConnection& link, storage::Store& store, const ImportOptions& options)
      : link_(link), target_(store, options.name_space), options_(options) {}

  // Messages of dead workers become delayed only after nothing is pending any more, so pending messages are moved
  // whatever their time to live. Moving a topic also moves delayed messages.
  ImportReport run() {
    move_all("");
    for (const std::string& topic : topics_of(link_)) move_all(topic);
    Reaper reaper{link_, {.worker = token_}};
    while (reaper.reap().settled > 0) move_all("");
    if (options_.dead_letters) report_.letters = move_dead_letters(link_, target_, token_, options_.letter_progress);
    return report_;
  }

 private:
  void move_all(const std::string& topic) {
    for (auto found = take(topic); !found.empty(); found = take(topic)) {
      move(found);
      options_.progress(report_.moved);
    }
  }

  std::vector<FoundMessage> take(const std::string& topic) {
    const Reply reply =
        link_.run(scripts::take, topic, {token_, std::to_string(kImportLease.count()), std::to_string(kMessagesACall)});
    std::vector<FoundMessage> found;
    for (std::size_t i = 0; i + 4 < reply.size(); i += 5) {
      found.push_back({.taken = {{std::string{reply.text(i)}, token_}, std::string{reply.text(i + 4)}},
                       .run_at = time_of(reply.text(i + 1)),
                       .before = reply.text(i + 2) == "1",
                       .topic = link_.keys().topic_of(reply.text(i + 3))});
    }
    return found;
  }

  void move(const std::vector<FoundMessage>& all) {
    std::vector<task::NewTask> tasks;
    std::vector<Lease> done;
    for (const FoundMessage& each : all) {
      try {
        const Message message = parse_message(each.taken.json);
        if (!each.before || !is_stored(each.taken.lease.id)) tasks.push_back(task_of(each, message));
        done.push_back(each.taken.lease);
      } catch (const MessageError& why) {
        set_aside_as_unreadable(each, why.what());
      }
    }
    if (!tasks.empty()) target_.insert(tasks);
    if (done.empty()) return;
    const std::vector<bool> removed = complete(link_, "", done);
    report_.moved += std::ranges::count(removed, true);
  }

  // A pending message keeps its place in the order of creation.
  task::NewTask task_of(const FoundMessage& found, const Message& message) const {
    task::NewTask task = target_.task_of(found.taken.lease.id, message);
    task.error = message.meta.last_error.value_or("");
    task.due_at = found.run_at;
    if (!task.due_at && message.created_at > 0) task.due_at = TimePoint{Millis{message.created_at}};
    return task;
  }

  bool is_stored(const std::string& id) { return target_.live(id) || target_.ended(id); }

  void set_aside_as_unreadable(const FoundMessage& found, std::string_view why) {
    const std::int64_t now = system_clock().now().time_since_epoch().count();
    const Lease& lease = found.taken.lease;
    const LeasedMessage record{lease, parse_error_record(lease.id, found.taken.json, found.topic, why, now)};
    if (set_aside(link_, found.topic, {&record, 1}).front()) ++report_.unreadable;
  }

  QueueConnection& link_;
  ImportTarget target_;
  const ImportOptions& options_;
  const std::string token_ = "import-" + new_id();
  ImportReport report_;
};

std::int64_t ask(QueueConnection& link, std::string_view command, const std::string& key) {
  return link.run(Command::of(command, std::string_view{key})).integer();
}

ImportPlan plan(QueueConnection& link) {
  const Keys& keys = link.keys();
  ImportPlan plan;
  std::int64_t waiting = 0;
  for (const std::string& topic : topics_of(link)) {
    plan.pending[topic] = ask(link, "LLEN", keys.pending(topic));
    waiting += plan.pending[topic];
  }
  plan.delayed = ask(link, "ZCARD", keys.delays);
  plan.dead = ask(link, "LLEN", keys.dlq);
  plan.in_flight = std::max<std::int64_t>(0, ask(link, "HLEN", keys.payloads) / 2 - waiting - plan.delayed);
  return plan;
}

}  // namespace

std::int64_t ImportPlan::to_be_moved() const {
  std::int64_t all = delayed;
  for (const auto& [topic, count] : pending) all += count;
  return all;
}

ImportPlan plan_import(std::string_view queue_url) {
  QueueConnection link{parse_queue_url(queue_url)};
  return or_store_error("mxrmq.import", Access::read, [&] { return plan(link); });
}

ImportReport run_import(std::string_view queue_url, storage::Store& store, const ImportOptions& options) {
  QueueConnection link{parse_queue_url(queue_url)};
  return or_store_error("mxrmq.import", Access::write, [&] { return Import{link, store, options}.run(); });
}

}  // namespace easyretry::mxrmq
