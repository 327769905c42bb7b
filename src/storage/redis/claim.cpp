// Changer::claim: lua/claim.lua.

#include <algorithm>

#include "storage/redis/changer.h"
#include "storage/redis/record_layout.h"
#include "storage/redis/records.h"
#include "task/transitions.h"

namespace easyretry::storage::redis {
namespace {

namespace Claimed = layout::Claimed;

class ClaimJob final : public Job {
 public:
  ClaimJob(Part& part, const ClaimRequest& request) : Job(part), request_(request) {}

  void add(const Ticket& ticket, std::size_t /*place*/) { tickets_.push_back(ticket); }
  std::vector<TaskRecord>& won() { return won_; }
  TimePoint now() const { return now_; }
  // The tickets in flight.
  std::span<const Ticket> slice() const {
    return std::span{tickets_}.subspan(from_, std::min(kItemsACall, tickets_.size() - from_));
  }

  bool done() const override { return from_ == tickets_.size(); }
  ScriptCall next() override {
    ScriptCall call = part().script(scripts::claim);
    call.keys.insert(call.keys.end(), {part().keys().body(), part().keys().meta()});
    call.arguments.push_back(std::string{owner()}.append(request_.begin ? 0 : 1, kWaiting));
    call.arguments.push_back(std::to_string(request_.lease.count()));
    Packer tickets;
    for (const Ticket& ticket : slice()) tickets.record(layout::Ticket{.id = ticket.id, .version = ticket.version});
    call.arguments.push_back(tickets.take());
    return call;
  }
  void take(const Reply& reply) override {
    const NameTexts texts = [this](unsigned number) { return part().name_of(number); };
    now_ = TimePoint{Millis{reply.integer(0)}};
    const std::string_view became = reply.text(1);
    std::size_t at = 2;
    for (std::size_t i = 0; i < became.size() && i < slice().size(); ++i) {
      if (became[i] == Claimed::lost) continue;
      const std::string_view meta = became[i] == Claimed::again ? reply.text(at++) : std::string_view{};
      won_.push_back(live_record(slice()[i].id, reply.text(at++), meta, texts));
      won_.back().info.last_attempts.clear();
      if (became[i] == Claimed::first) {
        task::apply_claim(won_.back(), task::Event::claim, owner(), now_, request_.lease, request_.begin);
      }
    }
    from_ += slice().size();
  }

 private:
  std::string_view owner() const { return request_.owner.substr(0, 0xfffe); }

  const ClaimRequest& request_;
  std::vector<Ticket> tickets_;
  std::size_t from_ = 0;
  std::vector<TaskRecord> won_;
  TimePoint now_{};
};

}  // namespace

// This instance holds the tasks that were won. The others can be claimed again.
ClaimReply Changer::claim(const ClaimRequest& request) {
  if (request.tickets.empty()) return {.now = parts_.now(), .won = {}};
  const auto jobs = parts_.jobs_for<ClaimJob>(
      request.tickets, [](const Ticket& ticket) { return ticket.id; }, request);
  parts_.run(CallKind::write, jobs);
  ClaimReply reply;
  bool answered = false;
  for (const auto& job : jobs) {
    std::ranges::move(job->won(), std::back_inserter(reply.won));
    answered = answered || !job->failure();
    if (!job->failure()) continue;
    if (parts_.size() == 1 && (job->lost() || reply.won.empty())) throw_failure(jobs);
    reply.trouble = error_of(*job, "redis.claim");
    if (job->lost()) std::ranges::copy(job->slice(), std::back_inserter(reply.in_doubt));
  }
  if (!answered && reply.won.empty() && reply.in_doubt.empty()) throw_failure(jobs);
  reply.now = parts_.time_of(jobs.front()->now());
  return reply;
}

}  // namespace easyretry::storage::redis
