#include "webhook/caller.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <utility>

#include <openssl/x509_vfy.h>
#include <pthread.h>
#include <signal.h>

#include "base/duration_text.h"
#include "webhook/call_queue.h"
#include "webhook/destination.h"
#include "webhook/multi.h"
#include "webhook/transfer.h"
#include "webhook/work_queue.h"

namespace easyretry::webhook {
namespace {

constexpr std::size_t kMostCalls = 1'000'000;
constexpr Millis kLongestTime = std::chrono::hours{24};

Instant now() {
  return std::chrono::steady_clock::now();
}

// Signals, including SIGPIPE for a socket closed by the peer, belong to the program's own threads.
void take_no_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

CallerOptions checked(CallerOptions options) {
  validate(options);
  return options;
}

void check(bool good, const std::string& problem) {
  if (!good) throw std::invalid_argument("webhooks: " + problem);
}

bool has_certificates(const std::string& file) {
  const std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store{X509_STORE_new(), X509_STORE_free};
  return X509_STORE_load_file(store.get(), file.c_str()) == 1;
}

Error wrong(const std::string& detail) {
  return {Errc::invalid_argument, "webhook.call", detail};
}

// A call between start() and its end.
struct ActiveCall {
  enum class Stage { queued, looking_up, transferring };

  ActiveCall(CallId number, Call what, std::function<void(CallResult)> callback, Instant now)
      : id(number),
        call(std::move(what)),
        done(std::move(callback)),
        deadline(now + std::clamp(call.timeout, Millis{0}, kLongestTime)) {}

  const CallId id;
  const Call call;
  const std::function<void(CallResult)> done;
  const Instant deadline;

  Destination destination{};
  Stage stage = Stage::queued;
  std::optional<Transfer> transfer{};
  // Destroying it may wait for a stop that is running on another thread; that stop only posts a function.
  std::optional<std::stop_callback<std::function<void()>>> on_stop{};
};

using CallPtr = std::shared_ptr<ActiveCall>;

// Why this call cannot be made. Fills in its destination.
std::optional<Error> objection(ActiveCall& active) {
  try {
    active.destination = parse_destination(active.call.url);
  } catch (const std::invalid_argument& error) {
    return wrong(error.what());
  }
  const std::string& shown = active.destination.shown;
  for (const Header& header : active.call.headers) {
    if (const auto why = objection(header)) return wrong(shown + ": " + *why);
  }
  if (active.call.timeout <= Millis{0} || active.call.timeout > kLongestTime) {
    return wrong(shown + ": a timeout must be more than 0 and at most 24 hours");
  }
  return std::nullopt;
}

// The error of a call that ends at this stage without libcurl having ended it.
Error ended_early(const ActiveCall& active, const std::string& why, const CallQueue& queue) {
  const Destination& to = active.destination;
  if (active.stage == ActiveCall::Stage::transferring) return cut_off(why, to, active.transfer->progress());
  const std::string still = active.stage == ActiveCall::Stage::looking_up
                                ? "the name " + to.host + " was still being looked up"
                                : "it was queued behind " + std::to_string(queue.in_flight(to.server())) +
                                      " calls to " + to.server() + " and " + std::to_string(queue.in_flight()) +
                                      " in total (most_per_server, most_calls)";
  return {Errc::unavailable, "webhook.call", to.shown + ": " + why + "; " + still};
}

}  // namespace

// Everything happens on its own thread. start() only posts a function to that thread.
class Caller::Impl {
 public:
  explicit Impl(CallerOptions options)
      : options_(checked(std::move(options))), resolver_(options_.look_up, when_found()), thread_([this] { run(); }) {}

  ~Impl() {
    work_->post([this] { stopping_ = true; });
    thread_.join();
    work_->close();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void start(Call call, Done done) {
    if (!done) throw std::invalid_argument("a webhook call needs a callback: done is empty");
    const CallId id = ++last_id_;
    const auto active = std::make_shared<ActiveCall>(id, std::move(call), std::move(done), now());
    active->on_stop.emplace(active->call.stop, [this, id] { work_->post([this, id] { end(id, "it was stopped"); }); });
    work_->post([this, active] { accept(active); });
  }

  const Guard& guard() const { return options_.guard; }
  std::size_t in_flight() const { return in_flight_; }
  std::size_t waiting() const { return waiting_; }

 private:
  void run() {
    pthread_setname_np(pthread_self(), "er-webhook");
    take_no_signals();
    while (!stopping_) step();
    do {
      while (!calls_.empty()) end(calls_.begin()->first, "the program is being shut down");
    } while (run_posted());  // a callback may have started another call
  }

  void step() {
    const Instant next_deadline = deadlines_.empty() ? Instant::max() : deadlines_.begin()->first;
    for (const auto& [id, code] : multi_.run(std::min(next_deadline, hang_up_at_))) on_ended(*calls_.at(id), code);
    run_posted();
    end_late_calls();
    while (const auto id = queue_.next()) begin(*calls_.at(*id));
    in_flight_ = queue_.in_flight();
    waiting_ = calls_.size() - queue_.in_flight();
    if (hang_up_at_ <= now()) {
      multi_.close_connections();
      hang_up_at_ = Instant::max();
    }
  }

  void end_late_calls() {
    while (!deadlines_.empty() && deadlines_.begin()->first <= now()) {
      const CallId late = deadlines_.begin()->second;
      end(late, "timed out after " + base::to_text(calls_.at(late)->call.timeout));
    }
  }

  // Returns false if nothing was posted.
  bool run_posted() {
    const auto functions = work_->take();
    for (const auto& function : functions) function();
    return !functions.empty();
  }

  void accept(const CallPtr& active) {
    auto why = objection(*active);
    if (!why && active->call.stop.stop_requested()) why = ended_early(*active, "it was stopped", queue_);
    if (why) return active->done(tl::make_unexpected(*std::move(why)));
    hang_up_at_ = Instant::max();
    calls_.emplace(active->id, active);
    deadlines_.emplace(active->deadline, active->id);
    queue_.push(active->id, active->destination.server());
  }

  void begin(ActiveCall& active) {
    const std::string& host = active.destination.host;
    if (active.destination.address) return transfer(active, {});
    if (const auto known = name_cache_.known(host, now()))
      return transfer(active, worth_trying(active.destination, *known));
    active.stage = ActiveCall::Stage::looking_up;
    if (name_cache_.wait(active.id, host)) resolver_.ask(host);
  }

  // Safe to call even after the Caller is destroyed: the queue is closed then, and drops the function.
  Resolver::Found when_found() {
    return [this, work = work_](const std::string& host, Addresses addresses) {
      work->post([this, host, addresses = std::move(addresses)] { learn(host, addresses); });
    };
  }

  void learn(const std::string& host, const Addresses& addresses) {
    for (const CallId id : name_cache_.learn(host, addresses.value_or(std::vector<IpAddress>{}), now())) {
      const auto found = calls_.find(id);
      if (found == calls_.end()) continue;
      ActiveCall& active = *found->second;
      if (addresses) {
        transfer(active, worth_trying(active.destination, *addresses));
      } else {
        finish(active, fail(addresses.error().code, "webhook.call",
                            active.destination.shown + ": " + addresses.error().detail));
      }
    }
  }

  // libcurl pauses for seconds after an address that the guard refuses, so it gets only the allowed ones. If the guard
  // refuses all of them, libcurl gets one, and the guard's reason becomes the error of the call.
  std::vector<IpAddress> worth_trying(const Destination& to, const std::vector<IpAddress>& addresses) const {
    std::vector<IpAddress> allowed;
    std::ranges::copy_if(addresses, std::back_inserter(allowed), [&](const IpAddress& address) {
      return !options_.guard.objection(address, to.host, to.port);
    });
    return allowed.empty() ? std::vector{addresses.front()} : allowed;
  }

  void transfer(ActiveCall& active, const std::vector<IpAddress>& addresses) {
    active.stage = ActiveCall::Stage::transferring;
    active.transfer.emplace(active.id, active.call, active.destination, addresses, options_);
    multi_.add(*active.transfer, active.destination.server());
  }

  // libcurl has ended the transfer.
  void on_ended(ActiveCall& active, int code) {
    CallResult result = active.transfer->result(code);
    if (!result && result.error().code == Errc::unavailable) name_cache_.forget(active.destination.host);
    finish(active, std::move(result));
  }

  void end(CallId id, const std::string& why) {
    const auto found = calls_.find(id);
    if (found != calls_.end()) finish(*found->second, tl::make_unexpected(ended_early(*found->second, why, queue_)));
  }

  void finish(const ActiveCall& ended, CallResult result) {
    const CallPtr active = std::move(calls_.extract(ended.id).mapped());
    const std::string server = active->destination.server();
    deadlines_.erase({active->deadline, active->id});
    if (active->stage == ActiveCall::Stage::queued) {
      queue_.remove(active->id, server);
    } else {
      queue_.release(server);
    }
    if (active->transfer) multi_.remove(*active->transfer);
    if (calls_.empty()) hang_up_at_ = now() + options_.keep_idle;
    active->done(std::move(result));
  }

  // Fixed after construction
  const CallerOptions options_;
  const std::shared_ptr<WorkQueue> work_ = std::make_shared<WorkQueue>();

  std::atomic<CallId> last_id_{0};
  // Statistics, as of the last step
  std::atomic<std::size_t> in_flight_{0};
  std::atomic<std::size_t> waiting_{0};

  // Used only by the thread
  bool stopping_ = false;
  Instant hang_up_at_ = Instant::max();  // only while there are no calls
  Multi multi_{work_->descriptor(), options_.most_calls};
  CallQueue queue_{options_.most_calls, options_.most_per_server};
  NameCache name_cache_;
  std::unordered_map<CallId, CallPtr> calls_;
  std::set<std::pair<Instant, CallId>> deadlines_;

  Resolver resolver_;
  std::thread thread_;
};

Caller::Caller(CallerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Caller::~Caller() = default;

void Caller::start(Call call, Done done) {
  impl_->start(std::move(call), std::move(done));
}

const Guard& Caller::guard() const {
  return impl_->guard();
}

std::size_t Caller::in_flight() const {
  return impl_->in_flight();
}
std::size_t Caller::waiting() const {
  return impl_->waiting();
}

void validate(const CallerOptions& options) {
  check(options.most_calls > 0 && options.most_calls <= kMostCalls, "most_calls must be from 1 to 1,000,000");
  check(options.most_per_server > 0, "most_per_server must be at least 1");
  check(options.connect_within > Millis{0} && options.connect_within <= kLongestTime,
        "connect_within must be more than 0 and at most 24 hours");
  check(options.keep_idle >= Millis{0} && options.keep_idle <= kLongestTime, "keep_idle must be at most 24 hours");
  check(options.look_up != nullptr, "look_up is empty");
  check(options.ca_file.empty() || has_certificates(options.ca_file),
        "ca_file " + options.ca_file + " has no readable PEM certificates");
}

}  // namespace easyretry::webhook
