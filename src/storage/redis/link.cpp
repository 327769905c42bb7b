#include "storage/redis/link.h"

#include <atomic>
#include <charconv>
#include <chrono>
#include <numeric>
#include <set>

#include "storage/server/connection_pool.h"

namespace easyretry::storage::redis {
namespace {

using server::ServerError;
using server::Trouble;

// A call may be redirected twice in a failover. A call whose slot is moving is tried for an eighth of a second in all.
constexpr int kMostRounds = 8;
constexpr std::chrono::milliseconds kFirstPause{1};

// "MOVED 3999 127.0.0.1:6381". Without a host it is the server that answered.
Endpoint named_in(std::string_view reply, const Endpoint& by) {
  const auto blank = reply.rfind(' ');
  const auto colon = reply.rfind(':');
  if (blank == std::string_view::npos || colon == std::string_view::npos || colon < blank) return {"", 0};
  const std::string_view port = reply.substr(colon + 1);
  Endpoint endpoint{std::string{reply.substr(blank + 1, colon - blank - 1)}, 0};
  std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
  if (endpoint.host.empty()) endpoint.host = by.host;
  return endpoint;
}

Trouble trouble_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const ServerError& error) {
    return error.trouble();
  }
}

}  // namespace

// The connections to one server. Safe to use from any thread.
class Node {
 public:
  using Pool = server::ConnectionPool<Connection>;

  Node(const Address& address, std::size_t connections, const base::PauseClock& clock)
      : clock_(clock),
        work_([address] { return std::make_unique<Connection>(address); }, connections, clock),
        control_([address] { return std::make_unique<Connection>(address); }, kControlConnections, clock) {}

  Pool& work() { return work_; }
  Pool& control() { return control_; }

  // A caller finds that a server is silent by waiting, and its requests for other servers wait, too. So after one has
  // found this, the others fail at once for a second.
  void was_silent() { silent_until_ = clock_.now() + kRest; }
  bool is_silent() const { return clock_.now() < silent_until_.load(); }

 private:
  static constexpr std::size_t kControlConnections = 3;
  static constexpr std::chrono::seconds kRest{1};

  const base::PauseClock& clock_;
  Pool work_;
  Pool control_;
  std::atomic<Instant> silent_until_{};
};

// One run(): sends each request to the server that has its slot. Requests that were not executed there are sent once
// more, to the server that has the slot now.
class Link::Exchange {
 public:
  Exchange(Link& link, Lane lane, std::span<const Request> requests, const Confirmation& confirmation)
      : link_(link),
        lane_(lane),
        confirmation_(confirmation),
        requests_(requests),
        answers_(requests.size()),
        asking_(requests.size()) {}

  std::vector<Answer> run() {
    std::vector<std::size_t> open(requests_.size());
    std::iota(open.begin(), open.end(), std::size_t{0});
    for (round_ = 1;; ++round_) {
      again_.clear();
      moving_ = false;
      send(open);
      if (again_.empty() || round_ == kMostRounds) break;
      if (moving_) link_.options_.pauses->sleep(kFirstPause * (1 << (round_ - 1)));
      open.swap(again_);
    }
    if (changed_) link_.forget_strangers();
    return std::move(answers_);
  }

 private:
  struct Batch {
    std::vector<std::size_t> requests;
    NodePtr node{};
    std::unique_ptr<Node::Pool::Lease> connection{};
  };
  // All threads take connections in this order, so they cannot wait for each other in a circle.
  using Batches = std::map<Endpoint, Batch>;

  void send(const std::vector<std::size_t>& open) {
    Batches batches;
    for (const std::size_t i : open) {
      try {
        const auto asking = asking_[i];
        batches[asking ? *asking : link_.topology_->of(requests_[i].slot)].requests.push_back(i);
      } catch (const ServerError&) {
        answers_[i].failure = std::current_exception();
      }
    }
    for (auto& [endpoint, batch] : batches) post(endpoint, batch);
    for (auto& [endpoint, batch] : batches) collect(endpoint, batch);
  }

  void post(const Endpoint& endpoint, Batch& batch) {
    try {
      batch.node = link_.node(endpoint);
      if (batch.node->is_silent()) throw ServerError{Trouble::silent, to_string(endpoint) + " does not answer"};
      Node::Pool& pool = lane_ == Lane::work ? batch.node->work() : batch.node->control();
      batch.connection.reset(new Node::Pool::Lease(pool.take()));
      std::vector<Posting> postings;
      for (const std::size_t i : batch.requests) {
        postings.push_back({&requests_[i].command, asking_[i].has_value(), requests_[i].wrote});
      }
      (*batch.connection)->post(postings, confirmation_);
    } catch (const ServerError&) {
      batch.connection.reset();
      failed(endpoint, batch, std::current_exception());
    }
  }

  // The requests were not sent, or not all of them. For those not executed, another server may have taken over.
  void failed(const Endpoint& endpoint, const Batch& batch, const std::exception_ptr& failure) {
    note_silence(batch, failure);
    look_again(endpoint);
    for (const std::size_t i : batch.requests) {
      answers_[i] = {std::nullopt, failure};
      if (!is_lost(failure)) go_elsewhere(i, endpoint);
    }
  }

  void collect(const Endpoint& endpoint, Batch& batch) {
    if (!batch.connection) return;
    Connection& connection = **batch.connection;
    std::vector<Answer> answers = connection.collect();
    for (std::size_t at = 0; at < answers.size(); ++at) {
      const std::size_t i = batch.requests[at];
      answers_[i] = std::move(answers[at]);
      asking_[i].reset();
      if (!answers_[i].reply) {
        note_silence(batch, answers_[i].failure);
        look_again(endpoint);
      } else if (answers_[i].reply->is_error()) {
        judge(i, endpoint, connection);
      }
    }
    batch.connection.reset();
  }

  // The reply is an error. An error that means "not here" or "not now" means that nothing was done.
  void judge(std::size_t i, const Endpoint& endpoint, Connection& connection) {
    const std::string_view error = answers_[i].reply->text();
    if (is_no_script(error)) {
      give_script(i, connection);
    } else if (error.starts_with("MOVED ")) {
      moving_ = moving_ || round_ > 1;  // at the end of a move, two servers may name each other
      if (!link_.topology_->moved(requests_[i].slot, named_in(error, endpoint))) return;
      changed_ = true;
      again_.push_back(i);
    } else if (error.starts_with("ASK ")) {
      asking_[i] = named_in(error, endpoint);
      again_.push_back(i);
    } else if (error.starts_with("TRYAGAIN")) {
      moving_ = true;
      again_.push_back(i);
    } else if (may_be_elsewhere(error)) {
      connection.spoil();
      look_again(endpoint);
      go_elsewhere(i, endpoint);
    }
  }

  void give_script(std::size_t i, Connection& connection) {
    if (requests_[i].script == nullptr) return;
    try {
      connection.run(Command::of("SCRIPT", "LOAD", requests_[i].script->code));
      again_.push_back(i);
    } catch (const ServerError& error) {
      answers_[i] = {std::nullopt, std::make_exception_ptr(ServerError{error.trouble(), error.what()})};
    }
  }

  void look_again(const Endpoint& suspect) {
    link_.topology_->look_again(suspect);
    changed_ = true;
  }

  void go_elsewhere(std::size_t i, const Endpoint& endpoint) {
    try {
      if (link_.topology_->of(requests_[i].slot) != endpoint) again_.push_back(i);
    } catch (const ServerError&) {
      // No server has the slot: the answer stands.
    }
  }

  static void note_silence(const Batch& batch, const std::exception_ptr& failure) {
    // A failure is ignored during the pause for this server. Otherwise steady calls would extend the pause for
    // ever.
    const bool is_news = batch.node && !batch.node->is_silent();
    if (is_news && trouble_of(failure) == Trouble::silent) batch.node->was_silent();
  }

  static bool is_lost(const std::exception_ptr& failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const LostReply&) {
      return true;
    } catch (const ServerError&) {
      return false;
    }
  }

  Link& link_;
  const Lane lane_;
  const Confirmation confirmation_;
  const std::span<const Request> requests_;
  std::vector<Answer> answers_;
  std::vector<std::optional<Endpoint>> asking_;  // where to send it instead, once
  std::vector<std::size_t> again_;
  int round_ = 0;
  bool moving_ = false;   // it is worth waiting a moment
  bool changed_ = false;  // slots may have moved
};

Link::Link(std::unique_ptr<Topology> topology, LinkOptions options)
    : topology_(std::move(topology)), options_(std::move(options)) {}

Link::~Link() = default;

std::vector<Answer> Link::run(Lane lane, std::span<const Request> requests, const Confirmation& confirmation) {
  return Exchange{*this, lane, requests, confirmation}.run();
}

Reply Link::run(Lane lane, Slot slot, const Command& command) {
  const Request request{.slot = slot, .command = command};
  Answer answer = std::move(run(lane, {&request, 1}, {}).front());
  if (answer.failure) std::rethrow_exception(answer.failure);
  if (answer.reply->is_error()) throw server_error(answer.reply->text());
  return *std::move(answer.reply);
}

Link::NodePtr Link::node(const Endpoint& endpoint) {
  const std::lock_guard lock{mutex_};
  NodePtr& node = nodes_[endpoint];
  if (!node) node = std::make_shared<Node>(options_.address.at(endpoint), options_.connections, *options_.pauses);
  return node;
}

// A thread that uses one of the connections at this moment keeps it until it is done.
void Link::forget_strangers() {
  std::set<Endpoint> ours;
  try {
    for (const Slot slot : options_.slots) ours.insert(topology_->of(slot));
  } catch (const ServerError&) {
    return;  // some slots have no known server
  }
  const std::lock_guard lock{mutex_};
  std::erase_if(nodes_, [&](const auto& node) { return !ours.contains(node.first); });
}

}  // namespace easyretry::storage::redis
