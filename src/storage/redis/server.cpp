#include "storage/redis/server.h"

#include <charconv>

namespace easyretry::storage::redis {
namespace {

using sql::ServerError;
using sql::Trouble;

constexpr std::size_t kControlConnections = 3;
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

Server::Server(ServerOptions options)
    : options_(std::move(options)),
      keys_(options_.prefix),
      work_([this] { return std::make_unique<Connection>(options_.address); }, options_.connections),
      control_([this] { return std::make_unique<Connection>(options_.address); }, kControlConnections) {
  const auto connection = work_.take();
  incarnation_ = options_.open(*connection);
  now();
  learn_names();
}

ScriptCall Server::script(const Script& script) const {
  ScriptCall call{script};
  call.keys.push_back(keys_.store());
  call.arguments.push_back(incarnation());
  call.arguments.push_back(options_.clock != nullptr ? std::to_string(options_.clock->now().time_since_epoch().count())
                                                     : std::string{});
  return call;
}

std::string Server::incarnation() const {
  const std::lock_guard lock{mutex_};
  return incarnation_;
}

Reply Server::write(const ScriptCall& call) {
  return run(work_, call, options_.confirmation);
}

Reply Server::write_soon(const ScriptCall& call) {
  return run(control_, call, options_.confirmation);
}

Reply Server::read(const ScriptCall& call) {
  try {
    return run(control_, call, {});
  } catch (const LostReply& error) {
    if (error.trouble() == Trouble::silent) throw ServerError{error.trouble(), error.what()};
  }
  try {
    return run(control_, call, {});
  } catch (const LostReply& error) {
    throw ServerError{error.trouble(), error.what()};  // nothing was to be done
  }
}

Reply Server::read(const Command& command) {
  try {
    return control_.take()->run(command);
  } catch (const LostReply& error) {
    throw ServerError{error.trouble(), error.what()};
  }
}

Reply Server::run(Pool& pool, const ScriptCall& call, const Confirmation& confirmation) {
  const auto connection = pool.take();
  Reply reply = connection->run(Call{call.script, call.keys, call.arguments, call.wrote}, confirmation);
  if (reply.is_error()) {
    if (is_stale(reply.text())) reopen(*connection);
    throw server_error(reply.text());
  }
  heard(TimePoint{Millis{reply.integer(0)}});
  return reply;
}

// Numbers that were learned from the one before may stand for other names now.
void Server::reopen(Connection& connection) {
  const std::string fresh = options_.open(connection);
  names_.forget();
  {
    const std::lock_guard lock{mutex_};
    incarnation_ = fresh;
    used_.clear();
  }
  throw ServerError{
      Trouble::gone,
      "the store that was opened is gone and another one is in its place: FLUSHDB, an eviction, or a server "
      "that came back without its data. What was in it is lost"};
}

TimePoint Server::now() {
  if (options_.clock != nullptr) return options_.clock->now();
  const Reply reply = read(Command::of("TIME"));
  std::int64_t micros = 0;
  std::int64_t seconds = 0;
  std::from_chars(reply.text(0).data(), reply.text(0).data() + reply.text(0).size(), seconds);
  std::from_chars(reply.text(1).data(), reply.text(1).data() + reply.text(1).size(), micros);
  const TimePoint time{Millis{seconds * 1000 + micros / 1000}};
  heard(time);
  return time;
}

TimePoint Server::estimated_now() {
  if (options_.clock != nullptr) return options_.clock->now();
  return TimePoint{Millis{(steady_micros() + offset_micros_.load(std::memory_order_relaxed)) / 1000}};
}

// A reply has travelled, or waited: the one that says the latest is the nearest to the truth.
void Server::heard(TimePoint time) {
  const std::int64_t offset = offset_from(time);
  std::int64_t best = offset_micros_.load(std::memory_order_relaxed);
  while (offset > best && !offset_micros_.compare_exchange_weak(best, offset, std::memory_order_relaxed)) {
  }
}

void Server::set_clock(TimePoint time) {
  offset_micros_.store(offset_from(time), std::memory_order_relaxed);
}

unsigned Server::number_of(NameKind kind, std::string_view text) {
  const unsigned number = ask_for_number(kind, text, kMostNames);
  if (number == 0) {
    throw ServerError{Trouble::bad_data,
                      "there are more than " + std::to_string(kMostNames) +
                          " names of namespaces and handlers; their names must not be made for tasks"};
  }
  if (kind == NameKind::space) uses(number);
  return number;
}

unsigned Server::number_if_few(NameKind kind, std::string_view text) {
  return ask_for_number(kind, text, kMostCommonNames);
}

unsigned Server::ask_for_number(NameKind kind, std::string_view text, unsigned most) {
  if (const auto known = names_.number(kind, text)) return *known;
  const std::string stored = stored_name(kind, text);
  ScriptCall call = script(scripts::name);
  call.arguments.push_back(std::to_string(most));
  call.arguments.push_back(stored);
  const Reply reply = run(control_, call, {});
  names_.learn(stored, static_cast<unsigned>(reply.integer(1)));
  return static_cast<unsigned>(reply.integer(1));
}

std::string Server::name_of(unsigned number) {
  if (const auto known = names_.text(number)) return *known;
  learn_names();
  return names_.text(number).value_or("");
}

std::vector<Name> Server::spaces() {
  learn_names();
  return names_.all(NameKind::space);
}

void Server::learn_names() {
  const std::string key = keys_.store();
  const Reply reply = read(Command::of("HGETALL", std::string_view{key}));
  for (std::size_t i = 0; i + 1 < reply.size(); i += 2) {
    std::string_view field = reply.text(i);
    if (!field.starts_with(kNameField)) continue;
    names_.learn(field.substr(kNameField.size()), parsed(reply.text(i + 1)));
  }
}

void Server::uses(unsigned space) {
  const std::lock_guard lock{mutex_};
  used_.insert(space);
}

void Server::uses(std::string_view space) {
  if (const auto number = names_.number(NameKind::space, space)) uses(*number);
}

std::vector<Name> Server::used_spaces() const {
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
