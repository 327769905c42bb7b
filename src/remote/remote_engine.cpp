#include <algorithm>
#include <stop_token>

#include <easyretry/remote_engine.h>

#include "call/errors.h"
#include "call/threaded_engine.h"
#include "engine/claimer.h"
#include "remote/remote_store.h"

namespace easyretry {
namespace remote {
namespace {

// A handler that is registered during a request is served after the request.
constexpr Millis kWait{5000};
constexpr Millis kLookAgain{1000};  // without handlers, or without room
constexpr std::size_t kMostAtATime = 200;

// Leases tasks from a daemon as long as workers have room, and gives them to the workers, as Loader and Claimer do for
// an engine on a database. One thread; stop() from any.
class Leaser {
 public:
  Leaser(engine::Core& core, RemoteStore& store)
      : context_(core.context()),
        workers_(core.workers()),
        dispatcher_(context_, core.in_flight(), workers_),
        store_(store) {}

  // Waits in the daemon until there are tasks.
  engine::Step step();
  void stop() { stop_.request_stop(); }

 private:
  LeaseRequest next_request();
  engine::Step pause();
  void deliver(LeaseReply reply, Instant sent);

  engine::Context& context_;
  engine::Workers& workers_;
  const engine::Dispatcher dispatcher_;
  RemoteStore& store_;
  std::stop_source stop_;
  int failures_ = 0;  // in a row
};

engine::Step Leaser::step() {
  const LeaseRequest wanted = next_request();
  // Workers wake this thread when there is room again.
  if (wanted.handlers.empty()) return {false, context_.clock.steady() + kLookAgain};
  const Instant sent = context_.clock.steady();
  auto reply = store_.lease(wanted, stop_.get_token());
  if (!reply && stop_.stop_requested()) return {};
  if (!reply) {
    context_.note(reply.error());
    return pause();
  }
  // A daemon that is about to stop answers at once.
  const bool sent_away = reply->tasks.empty() && context_.clock.steady() - sent < kWait / 2;
  deliver(*std::move(reply), sent);
  if (sent_away) return pause();
  failures_ = 0;
  return engine::Step::again();
}

engine::Step Leaser::pause() {
  return {false, context_.clock.steady() + engine::pause_after_failures(failures_++, context_.random)};
}

// As many tasks as the handler with the least room can take: any of the handlers may get all of them.
LeaseRequest Leaser::next_request() {
  LeaseRequest request{.most = kMostAtATime, .wait = kWait, .lease = context_.options.lease};
  const auto table = context_.handlers.snapshot();
  for (std::size_t i = 0; i < table->by_number.size(); ++i) {
    const auto no = static_cast<engine::HandlerNo>(i);
    const std::size_t room = workers_.room(no, table->concurrency(no, workers_.size()), 0);
    if (room == 0) continue;
    const detail::Handler& handler = table->by_number[i]->handler;
    request.handlers.push_back(handler.name);
    if (handler.on_final_failure) request.tells.push_back(handler.name);
    request.most = std::min(request.most, room);
  }
  return request;
}

// The request may have waited for longer than a lease, so the end of the lease is taken from the response.
void Leaser::deliver(LeaseReply reply, Instant sent) {
  context_.store_time.observe(reply.now, sent, context_.clock.steady());
  engine::Counters::add(context_.counters.claimed, reply.tasks.size());
  const Millis lease = context_.options.lease;
  dispatcher_.dispatch(std::move(reply.tasks), [&](const task::TaskRecord& record) {
    return engine::trust(context_.store_time.when(record.lease_until - lease), lease);
  });
}

}  // namespace
}  // namespace remote

namespace {

class RemoteImpl final : public call::ThreadedEngine {
 public:
  RemoteImpl(const std::shared_ptr<remote::RemoteStore>& store, const Config& config)
      : ThreadedEngine(store, config, {}), store_(store), leaser_(core_, *store) {
    core_.stop_claiming();  // the daemon knows what is due
  }

  ~RemoteImpl() override { RemoteImpl::stop(); }

  void stop() override {
    stopping_waits_.request_stop();
    ThreadedEngine::stop();
  }

  // The daemon waits: it sees the ends that it writes at once.
  Waited wait_for_end(TaskId id, Millis timeout) override {
    if (engine::LocalRetries::is_local(id)) return ThreadedEngine::wait_for_end(id, timeout);
    return waited(call::value_or_throw(awaited(id, core_.clock().steady() + timeout)));
  }

 private:
  Result<engine::Waits::Answer> awaited(TaskId id, Instant until);

  std::unique_ptr<engine::Threads> begin() override {
    auto threads = std::make_unique<engine::Threads>(core_, engine::Tasks::are_brought);
    leasing_ =
        std::make_unique<engine::RunLoop>("er-lease", core_, core_.claiming(), [this] { return leaser_.step(); });
    return threads;
  }

  void end(engine::Threads& threads) override {
    leaser_.stop();
    leasing_.reset();
    ThreadedEngine::end(threads);
  }

  const std::shared_ptr<remote::RemoteStore> store_;
  std::stop_source stopping_waits_;
  remote::Leaser leaser_;
  std::unique_ptr<engine::RunLoop> leasing_;
};

// The first request does not wait: it tells a task that ends meanwhile from one that is unknown.
Result<engine::Waits::Answer> RemoteImpl::awaited(TaskId id, Instant until) {
  constexpr Millis kLongestRequest{30'000};
  std::optional<task::TaskRecord> seen;
  Millis wait{0};
  for (int failures = 0;;) {
    const Instant asked = core_.clock().steady();
    auto found = store_->find_when_ended(id, wait, stopping_waits_.get_token());
    const Instant now = core_.clock().steady();
    if (stopping_waits_.stop_requested()) return engine::Waits::Answer{WaitEnd::stopped, std::move(seen)};
    if (!found && now >= until) return tl::make_unexpected(found.error());
    if (found && !*found) return engine::Waits::Answer{seen ? WaitEnd::gone : WaitEnd::unknown, std::move(seen)};
    if (found && (*found)->info.state == TaskState::finished) {
      return engine::Waits::Answer{WaitEnd::ended, *std::move(found)};
    }
    if (found) seen = *std::move(found);
    if (found && now >= until) return engine::Waits::Answer{WaitEnd::timeout, std::move(seen)};
    // A daemon that is about to stop answers at once.
    const bool sent_away = !found || now - asked < wait / 2;
    failures = sent_away ? failures + 1 : 0;
    if (sent_away) this->wait(std::chrono::ceil<Millis>(core_.pause_after_failures(failures)));
    wait = std::clamp(std::chrono::ceil<Millis>(until - core_.clock().steady()), Millis{0}, kLongestRequest);
  }
}

std::string token_of(const RemoteOptions& options) {
  if (options.token_file.empty()) return options.token;
  if (!options.token.empty()) throw std::invalid_argument("give token or token_file, not both");
  return remote::read_token(options.token_file);
}

std::shared_ptr<detail::EngineImpl> remote_engine(std::string_view daemon, const RemoteOptions& options) {
  validate(options.engine);
  remote::require_ca_file(options.ca_file);
  Config config{.store = std::string{daemon}, .engine = options.engine};
  config.engine.membership = "alone";  // the daemon distributes tasks
  auto store = std::make_shared<remote::RemoteStore>(
      remote::DaemonAddress{config.store, token_of(options), config.engine.name_space, options.ca_file},
      config.engine.encryption.enabled());
  return std::make_shared<RemoteImpl>(store, config);
}

}  // namespace

RemoteEngine::RemoteEngine(std::string_view daemon, const RemoteOptions& options)
    : Engine(remote_engine(daemon, options)) {}

}  // namespace easyretry
