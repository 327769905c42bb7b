#include "storage/redis/parts.h"

#include <algorithm>
#include <charconv>

#include "storage/redis/record_layout.h"
#include "task/task_id.h"

namespace easyretry::storage::redis {
namespace {

using server::ServerError;
using server::Trouble;

// Numbers have two bytes. Policies that differ from task to task must not use them up.
constexpr unsigned kMostNames = 65'000;
constexpr unsigned kMostCommonNames = 4'000;

unsigned parsed(std::string_view digits) {
  unsigned value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::int64_t steady_micros() {
  using namespace std::chrono;
  return duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

// The server rounds down to whole milliseconds, so the offset is never too large.
std::int64_t offset_from(TimePoint time) {
  return std::chrono::microseconds{time.time_since_epoch()}.count() - steady_micros();
}

bool is_lost(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const LostReply&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

Part::Part(Link& link, PartOptions options)
    : link_(link), options_(std::move(options)), keys_(options_.tag), slot_(slot_of(options_.tag)) {}

void Part::open() {
  const std::lock_guard opening{opening_};
  if (!incarnation().empty()) return;
  const std::string opened = opened_now();
  now();
  learn_names();
  const std::lock_guard lock{mutex_};
  incarnation_ = opened;
}

std::string Part::opened_now() {
  return options_.open(keys_, [this](const Command& command) { return read(command); });
}

ScriptCall Part::script(const Script& script) {
  if (incarnation().empty()) open();
  ScriptCall call{script};
  call.keys.push_back(keys_.store());
  call.arguments.push_back(incarnation());
  call.arguments.push_back(options_.clock != nullptr ? std::to_string(options_.clock->now().time_since_epoch().count())
                                                     : std::string{});
  call.made_at = steady_micros();
  return call;
}

Request Part::request(const ScriptCall& call, const std::string& key_count) const {
  Request request{.slot = slot_, .script = &call.script, .wrote = call.wrote};
  request.command = Command::of("EVALSHA", call.script.sha, std::string_view{key_count});
  for (const std::string& key : call.keys) request.command.add(key);
  for (const std::string& argument : call.arguments) request.command.add(argument);
  return request;
}

std::string Part::incarnation() const {
  const std::lock_guard lock{mutex_};
  return incarnation_;
}

Reply Part::write_soon(const ScriptCall& call) {
  return run(call, options_.confirmation);
}

Reply Part::read(const ScriptCall& call) {
  try {
    return run(call, {});
  } catch (const LostReply& error) {
    if (error.trouble() == Trouble::silent) throw ServerError{error.trouble(), error.what()};
  }
  try {
    return run(call, {});
  } catch (const LostReply& error) {
    throw ServerError{error.trouble(), error.what()};  // a read: nothing was done
  }
}

Reply Part::read(const Command& command) {
  try {
    return write(command);
  } catch (const LostReply& error) {
    throw ServerError{error.trouble(), error.what()};
  }
}

Reply Part::write(const Command& command) {
  return link_.run(Lane::control, slot_, command);
}

Reply Part::run(const ScriptCall& call, const Confirmation& confirmation) {
  const std::string key_count = std::to_string(call.keys.size());
  const Request one = request(call, key_count);
  return accept(call, std::move(link_.run(Lane::control, {&one, 1}, confirmation).front()));
}

Reply Part::accept(const ScriptCall& call, Answer answer) {
  if (answer.failure) std::rethrow_exception(answer.failure);
  if (answer.reply->is_error()) {
    if (is_stale(answer.reply->text())) reopen();
    throw server_error(answer.reply->text());
  }
  learn_time(TimePoint{Millis{answer.reply->integer(0)}}, call.made_at);
  return *std::move(answer.reply);
}

// Numbers that were learned from the former store may stand for other names now.
void Part::reopen() {
  const std::string fresh = opened_now();
  names_.forget();
  {
    const std::lock_guard lock{mutex_};
    incarnation_ = fresh;
    used_.clear();
  }
  throw ServerError{
      Trouble::gone,
      "the store that was opened is gone and another one is in its place: FLUSHDB, an eviction, or a server "
      "that came back without its data. The tasks in it are lost"};
}

TimePoint Part::now() {
  if (options_.clock != nullptr) return options_.clock->now();
  const std::int64_t asked_at = steady_micros();
  const Reply reply = read(Command::of("TIME"));
  std::int64_t micros = 0;
  std::int64_t seconds = 0;
  std::from_chars(reply.text(0).data(), reply.text(0).data() + reply.text(0).size(), seconds);
  std::from_chars(reply.text(1).data(), reply.text(1).data() + reply.text(1).size(), micros);
  const TimePoint time{Millis{seconds * 1000 + micros / 1000}};
  learn_time(time, asked_at);
  return time;
}

bool Part::knows_time() const {
  return options_.clock != nullptr ||
         offset_micros_.load(std::memory_order_relaxed) != std::numeric_limits<std::int64_t>::min();
}

TimePoint Part::estimated_now() const {
  if (options_.clock != nullptr) return options_.clock->now();
  return TimePoint{Millis{(steady_micros() + offset_micros_.load(std::memory_order_relaxed)) / 1000}};
}

// A reply takes time to arrive, so the one with the latest time is the most accurate. A time that contradicts the
// estimate at the moment of the question comes from another clock, or from one that was set back.
void Part::learn_time(TimePoint time, std::int64_t asked_at) {
  const std::int64_t offset = offset_from(time);
  const std::int64_t most = std::chrono::microseconds{time.time_since_epoch() + Millis{1}}.count() - asked_at;
  std::int64_t best = offset_micros_.load(std::memory_order_relaxed);
  while ((offset > best || best > most) &&
         !offset_micros_.compare_exchange_weak(best, offset, std::memory_order_relaxed)) {
  }
}

unsigned Part::number_of(NameKind kind, std::string_view text) {
  const unsigned number = ask_for_number(kind, text, kMostNames);
  if (number == 0) {
    throw ServerError{Trouble::bad_data,
                      "there are more than " + std::to_string(kMostNames) +
                          " names of namespaces and handlers; do not create such names for single tasks"};
  }
  if (kind == NameKind::name_space) uses(number);
  return number;
}

unsigned Part::number_if_few(NameKind kind, std::string_view text) {
  return ask_for_number(kind, text, kMostCommonNames);
}

unsigned Part::ask_for_number(NameKind kind, std::string_view text, unsigned most) {
  if (const auto known = names_.number(kind, text)) return *known;
  const std::string stored = stored_name(kind, text);
  ScriptCall call = script(scripts::name);
  call.arguments.push_back(std::to_string(most));
  call.arguments.push_back(stored);
  const Reply reply = run(call, {});
  names_.learn(stored, static_cast<unsigned>(reply.integer(1)));
  return static_cast<unsigned>(reply.integer(1));
}

std::string Part::name_of(unsigned number) {
  if (const auto known = names_.text(number)) return *known;
  learn_names();
  return names_.text(number).value_or("");
}

std::vector<Name> Part::namespaces() {
  learn_names();
  return names_.all(NameKind::name_space);
}

void Part::learn_names() {
  const std::string key = keys_.store();
  const Reply reply = read(Command::of("HGETALL", std::string_view{key}));
  for (std::size_t i = 0; i + 1 < reply.size(); i += 2) {
    std::string_view field = reply.text(i);
    if (!field.starts_with(layout::StoreField::name_prefix)) continue;
    names_.learn(field.substr(layout::StoreField::name_prefix.size()), parsed(reply.text(i + 1)));
  }
}

void Part::uses(unsigned name_space) {
  const std::lock_guard lock{mutex_};
  used_.insert(name_space);
}

void Part::uses(std::string_view name_space) {
  if (const auto number = names_.number(NameKind::name_space, name_space)) uses(*number);
}

std::vector<Name> Part::used_namespaces() const {
  std::set<unsigned> used;
  {
    const std::lock_guard lock{mutex_};
    used = used_;
  }
  std::vector<Name> names;
  for (const unsigned number : used) {
    if (const auto text = names_.text(number)) names.push_back({number, *text});
  }
  return names;
}

struct Parts::PendingCall {
  Job* job;
  ScriptCall call;
  std::string key_count;
};

bool Job::lost() const {
  return failure_ && is_lost(failure_);
}

bool Job::refused() const {
  if (!failure_) return false;
  try {
    std::rethrow_exception(failure_);
  } catch (const ServerError& error) {
    return error.trouble() == Trouble::bad_data;
  } catch (...) {
    return false;
  }
}

Parts::Parts(PartsOptions options)
    : link_(std::move(options.topology), std::move(options.link)), first_(options.tags.size() == 1 ? 0 : 1) {
  for (const std::string& tag : options.tags) {
    PartOptions one = options.each;
    one.tag = tag;
    all_.push_back(std::make_unique<Part>(link_, std::move(one)));
  }
  home().open();
}

std::size_t Parts::number_of(TaskId id) const {
  constexpr auto kMask = (std::int64_t{1} << task::kSequenceBits) - 1;
  return number_for(static_cast<unsigned>(static_cast<std::int64_t>(id) & kMask));
}

void Parts::run(CallKind kind, std::span<Job* const> jobs) {
  const Lane lane = kind == CallKind::write ? Lane::work : Lane::control;
  const Confirmation confirmation = kind == CallKind::read ? Confirmation{} : home().confirmation();
  while (true) {
    std::vector<PendingCall> calls;
    calls.reserve(jobs.size());
    for (Job* job : jobs) {
      if (job->failure_ || job->done()) continue;
      try {
        calls.push_back({job, job->next(), {}});
        calls.back().key_count = std::to_string(calls.back().call.keys.size());
      } catch (...) {
        job->failure_ = std::current_exception();
      }
    }
    if (calls.empty()) return;
    std::vector<Request> requests;
    requests.reserve(calls.size());
    for (const PendingCall& pending : calls) {
      requests.push_back(pending.job->part().request(pending.call, pending.key_count));
    }
    std::vector<Answer> answers = link_.run(lane, requests, confirmation);
    for (std::size_t i = 0; i < calls.size(); ++i) accept(kind, calls[i], std::move(answers[i]));
  }
}

void Parts::accept(CallKind kind, PendingCall& pending, Answer answer) {
  Job& job = *pending.job;
  try {
    job.take(job.part().accept(pending.call, std::move(answer)));
  } catch (const LostReply& error) {
    if (kind == CallKind::read && error.trouble() != Trouble::silent && job.breaks_++ == 0) return;
    job.failure_ = kind == CallKind::read ? std::make_exception_ptr(ServerError{error.trouble(), error.what()})
                                          : std::current_exception();
  } catch (...) {
    job.failure_ = std::current_exception();
  }
}

TimePoint Parts::now() {
  if (size() == 1) return at(0).now();
  if (!home().knows_time()) return home().now();
  TimePoint slowest = home().estimated_now();
  for (const auto& part : all_) {
    if (part->knows_time()) slowest = std::min(slowest, part->estimated_now());
  }
  return slowest;
}

void throw_failure(std::span<Job* const> jobs) {
  for (const Job* job : jobs) {
    if (job->lost()) std::rethrow_exception(job->failure());
  }
  for (const Job* job : jobs) {
    if (job->failure()) std::rethrow_exception(job->failure());
  }
}

Error error_of(const Job& job, std::string_view where) {
  const Errc code = job.lost() ? Errc::in_doubt : Errc::unavailable;
  try {
    std::rethrow_exception(job.failure());
  } catch (const std::exception& error) {
    return {code, std::string{where}, error.what()};
  }
}

}  // namespace easyretry::storage::redis
