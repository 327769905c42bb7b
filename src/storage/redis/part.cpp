#include "storage/redis/part.h"

#include <charconv>

namespace easyretry::storage::redis {
namespace {

using server::ServerError;
using server::Trouble;

// Numbers have two bytes. A policy that is different for each task must not use them up.
constexpr unsigned kMostNames = 65'000;
constexpr unsigned kMostCommonNames = 4'000;
constexpr std::string_view kNameField = "name:";

unsigned parsed(std::string_view digits) {
  unsigned value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::int64_t steady_micros() {
  using namespace std::chrono;
  return duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

// The server's milliseconds are whole ones that have passed: never more than the truth.
std::int64_t offset_from(TimePoint time) {
  return std::chrono::microseconds{time.time_since_epoch()}.count() - steady_micros();
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
    throw ServerError{error.trouble(), error.what()};  // nothing was to be done
  }
}

Reply Part::read(const Command& command) {
  try {
    return link_.run(Lane::control, slot_, command);
  } catch (const LostReply& error) {
    throw ServerError{error.trouble(), error.what()};
  }
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
  heard(TimePoint{Millis{answer.reply->integer(0)}}, call.made_at);
  return *std::move(answer.reply);
}

// Numbers that were learned from the one before may stand for other names now.
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
  heard(time, asked_at);
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

// A reply has travelled, or waited: the one that says the latest is the nearest to the truth. One that contradicts what
// was taken for the time when it was asked for comes from another clock, or one that was set back.
void Part::heard(TimePoint time, std::int64_t asked_at) {
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
  if (kind == NameKind::space) uses(number);
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

std::vector<Name> Part::spaces() {
  learn_names();
  return names_.all(NameKind::space);
}

void Part::learn_names() {
  const std::string key = keys_.store();
  const Reply reply = read(Command::of("HGETALL", std::string_view{key}));
  for (std::size_t i = 0; i + 1 < reply.size(); i += 2) {
    std::string_view field = reply.text(i);
    if (!field.starts_with(kNameField)) continue;
    names_.learn(field.substr(kNameField.size()), parsed(reply.text(i + 1)));
  }
}

void Part::uses(unsigned space) {
  const std::lock_guard lock{mutex_};
  used_.insert(space);
}

void Part::uses(std::string_view space) {
  if (const auto number = names_.number(NameKind::space, space)) uses(*number);
}

std::vector<Name> Part::used_spaces() const {
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

}  // namespace easyretry::storage::redis
