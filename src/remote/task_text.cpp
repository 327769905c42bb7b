#include "remote/task_text.h"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>

#include "base/json_copy.h"
#include "base/time_text.h"
#include "engine/payloads.h"
#include "policy/limits.h"
#include "task/record.h"

namespace easyretry::remote {
namespace {

using task::Settlement;

constexpr std::string_view kSealed = "{\"$sealed\":";

void text(JsonWriter& out, std::string_view name, std::string_view value) {
  out.key(name);
  out.string(value);
}
void text_if_any(JsonWriter& out, std::string_view name, std::string_view value) {
  if (!value.empty()) text(out, name, value);
}
void number(JsonWriter& out, std::string_view name, std::int64_t value) {
  out.key(name);
  out.integer(value);
}
void time_if_any(JsonWriter& out, std::string_view name, const std::optional<TimePoint>& value) {
  if (value) text(out, name, base::to_text(*value));
}

void payload(JsonWriter& out, std::string_view name, const std::string& json) {
  out.key(name);
  if (json.starts_with(kSealed)) {
    out.string(json);
  } else {
    base::copy_json(JsonDocument::parse(json).root(), out);
  }
}

std::string_view word_for(OnDuplicate what) {
  switch (what) {
    case OnDuplicate::keep: return "keep";
    case OnDuplicate::update_policy: return "update_policy";
    case OnDuplicate::reject: return "reject";
  }
  return "keep";
}

std::string_view word_for(Settlement::Kind kind) {
  switch (kind) {
    case Settlement::Kind::finish: return "finish";
    case Settlement::Kind::retry: return "retry";
    case Settlement::Kind::advance: return "advance";
    case Settlement::Kind::hand_back: return "hand_back";
  }
  return "hand_back";
}

void write_limits(JsonWriter& out, const task::RetryRules& rules) {
  number(out, "max_attempts", rules.max_attempts);
  // The daemon refuses longer limits, and they limit nothing.
  number(out, "max_duration_ms", std::min(rules.max_duration, policy::kLongestDelay).count());
  text_if_any(out, "backoff", rules.backoff);
}

void write_policy(JsonWriter& out, const task::RetryRules& rules) {
  out.key("policy");
  out.begin_object();
  write_limits(out, rules);
  out.end_object();
  time_if_any(out, "deadline", rules.deadline);
}

void write_identity(JsonWriter& out, const task::NewTask& task) {
  text(out, "handler", task.handler);
  text(out, "key", task.key);
  text(out, "on_duplicate", word_for(task.on_duplicate));
  text_if_any(out, "business_type", task.business_type);
  text_if_any(out, "business_id", task.business_id);
  text_if_any(out, "traceparent", task.traceparent);
  // A daemon of an earlier release refuses what it does not know.
  if (task.task_class != TaskClass::normal) text(out, "class", to_string(task.task_class));
  out.key("tags");
  out.begin_array();
  for (const std::string& tag : task.tags) out.string(tag);
  out.end_array();
}

void write(JsonWriter& out, const task::NewTask& task) {
  out.begin_object();
  write_identity(out, task);
  payload(out, "args", task.payload);
  number(out, "payload_version", task.payload_version);
  write_policy(out, task.rules);
  time_if_any(out, "due_at", task.due_at);
  if (!task.due_at) number(out, "delay_ms", task.delay.count());
  number(out, "attempts", task.attempts);
  text_if_any(out, "error", task.error);
  if (task.lease > Millis{0}) {
    text(out, "owner", task.owner);
    number(out, "lease_ms", task.lease.count());
  }
  out.end_object();
}

void write_ticket(JsonWriter& out, const task::Ticket& ticket) {
  text(out, "id", to_string(ticket.id));
  number(out, "version", ticket.version);
}

void write(JsonWriter& out, const Settlement& settlement) {
  out.begin_object();
  write_ticket(out, settlement.ticket);
  text(out, "kind", word_for(settlement.kind));
  text(out, "outcome", to_string(settlement.outcome));
  text(out, "stage", to_string(settlement.stage));
  number(out, "delay_ms", settlement.delay.count());
  text_if_any(out, "error", settlement.error);
  if (!settlement.result.empty()) payload(out, "result", settlement.result);
  if (settlement.keeps_result()) number(out, "keep_result_ms", settlement.keep_result.count());
  out.end_object();
}

void write(JsonWriter& out, const storage::Renewal& renewal) {
  out.begin_object();
  write_ticket(out, renewal.ticket);
  number(out, "lease_ms", renewal.lease.count());
  if (renewal.progress) text(out, "progress", *renewal.progress);
  out.end_object();
}

template <class Item>
std::vector<Piece> pieces(std::span<const Item> items, std::size_t most_bytes) {
  constexpr std::string_view kBegin = "{\"tasks\":[";
  constexpr std::string_view kEnd = "]}";
  std::vector<Piece> pieces;
  JsonWriter out;
  for (const Item& item : items) {
    write(out, item);
    const std::string text = out.take();
    const bool fits = !pieces.empty() && pieces.back().body.size() + 1 + text.size() + kEnd.size() <= most_bytes;
    if (!fits) {
      if (!pieces.empty()) pieces.back().body += kEnd;
      pieces.push_back({0, std::string{kBegin}});
    }
    Piece& piece = pieces.back();
    if (piece.count++ > 0) piece.body += ',';
    piece.body += text;
  }
  if (!pieces.empty()) pieces.back().body += kEnd;
  return pieces;
}

// Reads a task. A missing member keeps the value of a new record.
class Members {
 public:
  explicit Members(JsonView object) : object_(object) { object_.expect(JsonKind::object); }

  JsonView need(std::string_view name) const { return remote::need(object_, name); }
  std::string text(std::string_view name) const {
    const auto found = object_.find(name);
    return found ? std::string{found->as_string()} : std::string{};
  }
  std::int64_t number(std::string_view name, std::int64_t otherwise = 0) const {
    const auto found = object_.find(name);
    return found ? found->as_int() : otherwise;
  }
  int small(std::string_view name, int otherwise = 0) const { return static_cast<int>(number(name, otherwise)); }
  std::optional<TimePoint> time(std::string_view name) const {
    const auto found = object_.find(name);
    if (!found) return std::nullopt;
    return read_time(*found);
  }
  template <class Named>
  auto named(std::string_view name, Named value_named) const {
    const JsonView found = need(name);
    const auto value = value_named(found.as_string());
    if (!value) found.fail("a name that this program knows");
    return *value;
  }
  std::optional<JsonView> find(std::string_view name) const { return object_.find(name); }

 private:
  JsonView object_;
};

bool is_sealed(JsonView value) {
  return value.kind() == JsonKind::string && value.as_string().starts_with(kSealed);
}

std::string read_arguments(JsonView args, bool sealed) {
  args.expect(JsonKind::array);
  if (sealed && args.size() == 1 && is_sealed(args.at(0))) return std::string{args.at(0).as_string()};
  return base::canonical_json(args);
}

std::string read_result(JsonView result, bool sealed) {
  return sealed && is_sealed(result) ? std::string{result.as_string()} : base::canonical_json(result);
}

task::RetryRules read_policy(const Members& policy) {
  return {policy.small("max_attempts"), Millis{policy.number("max_duration_ms")}, policy.time("deadline"),
          policy.text("backoff")};
}

void read_identity(const Members& task, TaskInfo& info) {
  info.id = read_id(task.need("id"));
  info.name_space = task.text("namespace");
  info.key = task.text("key");
  info.handler = task.text("handler");
  info.business_type = task.text("business_type");
  info.business_id = task.text("business_id");
  info.traceparent = task.text("traceparent");
  if (task.find("class")) info.task_class = task.named("class", task::class_named);
  const JsonView tags = task.need("tags");
  for (std::size_t i = 0; i < tags.size(); ++i) info.tags.emplace_back(tags.at(i).as_string());
}

PastAttempt read_attempt(const Members& attempt) {
  return {.number = attempt.small("number"),
          .began_at = attempt.time("began_at"),
          .ended_at = read_time(attempt.need("ended_at")),
          .end = attempt.named("end", task::attempt_end_named),
          .by = attempt.text("by"),
          .error = attempt.text("error")};
}

void read_life(const Members& task, TaskInfo& info) {
  info.state = task.named("state", task::state_named);
  info.stage = task.named("stage", task::stage_named);
  if (task.find("outcome")) info.outcome = task.named("outcome", task::outcome_named);
  info.attempts = task.small("attempts");
  info.crashes = task.small("crashes");
  info.deliveries = task.small("deliveries");
  info.generation = task.small("generation");
  info.version = task.need("version").as_int();
  info.created_at = task.time("created_at").value_or(TimePoint{});
  info.next_at = task.time("next_at").value_or(TimePoint{});
  info.finished_at = task.time("finished_at");
  info.first_failed_at = task.time("first_failed_at");
  info.last_failed_at = task.time("last_failed_at");
  info.last_error = task.text("last_error");
  info.progress = task.text("progress");
  if (const auto attempts = task.find("last_attempts")) {
    for (std::size_t i = 0; i < attempts->size(); ++i) {
      info.last_attempts.push_back(read_attempt(Members{attempts->at(i)}));
    }
  }
  if (const auto as = task.find("requeued_as")) info.requeued_as = read_id(*as);
}

}  // namespace

std::vector<Piece> task_pieces(std::span<const task::NewTask> tasks, std::size_t most_bytes) {
  return pieces(tasks, most_bytes);
}

std::vector<Piece> settlement_pieces(std::span<const Settlement> settlements, std::size_t most_bytes) {
  return pieces(settlements, most_bytes);
}

std::vector<Piece> renewal_pieces(std::span<const storage::Renewal> renewals, std::size_t most_bytes) {
  return pieces(renewals, most_bytes);
}

std::string rules_text(const task::RetryRules& rules) {
  JsonWriter out;
  out.begin_object();
  out.key("policy");
  out.begin_object();
  write_limits(out, rules);
  out.key("deadline");
  rules.deadline ? out.string(base::to_text(*rules.deadline)) : out.null();
  out.end_object();
  out.end_object();
  return out.take();
}

std::string ending_text(const task::Ending& ending) {
  JsonWriter out;
  out.begin_object();
  text_if_any(out, "why", ending.error);
  if (!ending.result.empty()) payload(out, "result", ending.result);
  if (ending.keeps_result()) number(out, "keep_result_ms", ending.keep_result.count());
  out.end_object();
  return out.take();
}

std::string requeue_text(std::optional<std::string_view> arguments, std::optional<TaskClass> as) {
  JsonWriter out;
  out.begin_object();
  if (arguments) payload(out, "args", std::string{*arguments});
  if (as) text(out, "class", to_string(*as));
  out.end_object();
  return out.take();
}

JsonView need(JsonView object, std::string_view key) {
  const auto found = object.find(key);
  if (!found) object.fail_missing(key);
  return *found;
}

TimePoint read_time(JsonView text) {
  try {
    return base::parse_time(text.as_string());
  } catch (const std::invalid_argument& e) {
    throw JsonError(text.path() + ": " + e.what());
  }
}

TaskId read_id(JsonView text) {
  const std::string_view digits = text.as_string();
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  if (error != std::errc{} || end != digits.data() + digits.size()) text.fail("the id of a task");
  return static_cast<TaskId>(id);
}

task::TaskRecord read_task(JsonView object, bool sealed) {
  const Members task{object};
  task::TaskRecord record;
  read_identity(task, record.info);
  read_life(task, record.info);
  record.rules = read_policy(Members{task.need("policy")});
  record.locked_by = task.text("locked_by");
  record.lease_until = task.time("lease_until").value_or(TimePoint{});
  record.payload_version = task.small("payload_version", 1);
  record.callback_attempts = task.small("callback_attempts");
  if (const auto args = task.find("args")) record.payload = read_arguments(*args, sealed);
  if (const auto result = task.find("result")) record.result = read_result(*result, sealed);
  if (task.find("result_left_out")) {
    record.result = engine::left_out_result(static_cast<std::size_t>(task.number("result_left_out")));
  }
  return record;
}

storage::Inserted read_inserted(JsonView object) {
  const Members task{object};
  return {read_id(task.need("id")), task.need("version").as_int(), task.time("next_at").value_or(TimePoint{}),
          task.need("created").as_bool()};
}

}  // namespace easyretry::remote
