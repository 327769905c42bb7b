#include "webhook/caller.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <set>
#include <stdexcept>
#include <thread>
#include <unordered_map>
#include <utility>

#include <pthread.h>
#include <signal.h>

#include "base/duration_text.h"
#include "webhook/flight.h"
#include "webhook/mailbox.h"
#include "webhook/multi.h"
#include "webhook/names.h"

namespace easyretry::webhook {
namespace {

using FlightPtr = std::shared_ptr<Flight>;

Instant now() {
  return std::chrono::steady_clock::now();
}

// Signals are for the program's own threads, as is the one for a socket that the other side has closed.
void take_no_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

CallerOptions checked(CallerOptions options) {
  validate(options);
  return options;
}

}  // namespace

// Everything happens on its thread, but for start(), which leaves an errand.
class Caller::Impl {
 public:
  explicit Impl(CallerOptions options)
      : options_(checked(std::move(options))), resolver_(options_.look_up, when_found()), thread_([this] { run(); }) {}

  ~Impl() {
    mailbox_->post([this] { stopping_ = true; });
    thread_.join();
    mailbox_->close();
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void start(Call call, Done done) {
    if (!done) throw std::invalid_argument("a webhook call needs a callback: done is empty");
    const CallId id = ++last_id_;
    const auto flight = std::make_shared<Flight>(id, std::move(call), std::move(done), now());
    flight->on_stop.emplace(flight->call.stop,
                            [this, id] { mailbox_->post([this, id] { end(id, "it was stopped"); }); });
    mailbox_->post([this, flight] { take(flight); });
  }

  std::size_t under_way() const { return under_way_; }
  std::size_t waiting() const { return waiting_; }

 private:
  void run() {
    pthread_setname_np(pthread_self(), "er-webhook");
    take_no_signals();
    while (!stopping_) step();
    do {
      while (!flights_.empty()) end(flights_.begin()->first, "the program is being shut down");
    } while (run_errands());  // whoever was told may have started another
  }

  void step() {
    const Instant next_deadline = deadlines_.empty() ? Instant::max() : deadlines_.begin()->first;
    for (const auto& [id, code] : multi_.run(std::min(next_deadline, hang_up_at_))) land(*flights_.at(id), code);
    run_errands();
    end_late_calls();
    while (const auto id = places_.next()) begin(*flights_.at(*id));
    under_way_ = places_.begun();
    waiting_ = flights_.size() - places_.begun();
    if (hang_up_at_ <= now()) {
      multi_.close_connections();
      hang_up_at_ = Instant::max();
    }
  }

  void end_late_calls() {
    while (!deadlines_.empty() && deadlines_.begin()->first <= now()) {
      const CallId late = deadlines_.begin()->second;
      end(late, "timed out after " + base::to_text(flights_.at(late)->call.timeout));
    }
  }

  // False: there were none.
  bool run_errands() {
    const auto errands = mailbox_->take();
    for (const auto& errand : errands) errand();
    return !errands.empty();
  }

  void take(const FlightPtr& flight) {
    auto why = objection(*flight);
    if (!why && flight->call.stop.stop_requested()) why = ended_early(*flight, "it was stopped", places_);
    if (why) return flight->done(tl::make_unexpected(*std::move(why)));
    hang_up_at_ = Instant::max();
    flights_.emplace(flight->id, flight);
    deadlines_.emplace(flight->deadline, flight->id);
    places_.wait(flight->id, flight->destination.server());
  }

  void begin(Flight& flight) {
    const std::string& host = flight.destination.host;
    if (flight.destination.address) return transfer(flight, {});
    if (const auto known = names_.known(host, now())) return transfer(flight, worth_trying(flight.destination, *known));
    flight.stage = Flight::Stage::looking_up;
    if (names_.wait(flight.id, host)) resolver_.ask(host);
  }

  // Leaves an errand even where the Caller is gone by then.
  Resolver::Found when_found() {
    return [this, mailbox = mailbox_](const std::string& host, Addresses addresses) {
      mailbox->post([this, host, addresses = std::move(addresses)] { learn(host, addresses); });
    };
  }

  void learn(const std::string& host, const Addresses& addresses) {
    for (const CallId id : names_.learn(host, addresses.value_or(std::vector<IpAddress>{}), now())) {
      const auto found = flights_.find(id);
      if (found == flights_.end()) continue;
      Flight& flight = *found->second;
      if (addresses) {
        transfer(flight, worth_trying(flight.destination, *addresses));
      } else {
        tell(flight,
             fail(addresses.error().code, "webhook.call", flight.destination.shown + ": " + addresses.error().detail));
      }
    }
  }

  // libcurl pauses for seconds between addresses that it may not connect to: it gets those that it may, or one, to be
  // told why not.
  std::vector<IpAddress> worth_trying(const Destination& to, const std::vector<IpAddress>& addresses) const {
    std::vector<IpAddress> allowed;
    std::ranges::copy_if(addresses, std::back_inserter(allowed), [&](const IpAddress& address) {
      return !options_.guard.objection(address, to.host, to.port);
    });
    return allowed.empty() ? std::vector{addresses.front()} : allowed;
  }

  void transfer(Flight& flight, const std::vector<IpAddress>& addresses) {
    flight.stage = Flight::Stage::transferring;
    flight.transfer.emplace(flight.id, flight.call, flight.destination, addresses, options_);
    multi_.add(*flight.transfer, flight.destination.server());
  }

  // libcurl has ended it.
  void land(Flight& flight, int code) {
    Heard heard = flight.transfer->heard(code);
    if (!heard && heard.error().code == Errc::unavailable) names_.forget(flight.destination.host);
    tell(flight, std::move(heard));
  }

  void end(CallId id, const std::string& why) {
    const auto found = flights_.find(id);
    if (found != flights_.end()) tell(*found->second, tl::make_unexpected(ended_early(*found->second, why, places_)));
  }

  void tell(const Flight& ended, Heard heard) {
    const FlightPtr flight = std::move(flights_.extract(ended.id).mapped());
    const std::string server = flight->destination.server();
    deadlines_.erase({flight->deadline, flight->id});
    if (flight->stage == Flight::Stage::in_line) {
      places_.give_up(flight->id, server);
    } else {
      places_.leave(server);
    }
    if (flight->transfer) multi_.remove(*flight->transfer);
    if (flights_.empty()) hang_up_at_ = now() + options_.keep_idle;
    flight->done(std::move(heard));
  }

  // Fixed after construction
  const CallerOptions options_;
  const std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();

  std::atomic<CallId> last_id_{0};
  // For whoever asks, as of the last step.
  std::atomic<std::size_t> under_way_{0};
  std::atomic<std::size_t> waiting_{0};

  // Of the thread alone
  bool stopping_ = false;
  Instant hang_up_at_ = Instant::max();  // only while there are no flights
  Multi multi_{mailbox_->descriptor(), options_.most_calls};
  Places places_{options_.most_calls, options_.most_per_server};
  Names names_;
  std::unordered_map<CallId, FlightPtr> flights_;
  std::set<std::pair<Instant, CallId>> deadlines_;

  Resolver resolver_;
  std::thread thread_;
};

Caller::Caller(CallerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Caller::~Caller() = default;

void Caller::start(Call call, Done done) {
  impl_->start(std::move(call), std::move(done));
}

std::size_t Caller::under_way() const {
  return impl_->under_way();
}
std::size_t Caller::waiting() const {
  return impl_->waiting();
}

}  // namespace easyretry::webhook
