#include "storage/redis/parts.h"

#include <algorithm>

#include "task/task_id.h"

namespace easyretry::storage::redis {
namespace {

using server::ServerError;
using server::Trouble;

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

struct Parts::Sending {
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

void Parts::run(How how, std::span<Job* const> jobs) {
  const Lane lane = how == How::work ? Lane::work : Lane::control;
  const Confirmation confirmation = how == How::look ? Confirmation{} : home().confirmation();
  while (true) {
    std::vector<Sending> sendings;
    sendings.reserve(jobs.size());
    for (Job* job : jobs) {
      if (job->failure_ || job->done()) continue;
      try {
        sendings.push_back({job, job->next(), {}});
        sendings.back().key_count = std::to_string(sendings.back().call.keys.size());
      } catch (...) {
        job->failure_ = std::current_exception();
      }
    }
    if (sendings.empty()) return;
    std::vector<Request> requests;
    requests.reserve(sendings.size());
    for (const Sending& sending : sendings) {
      requests.push_back(sending.job->part().request(sending.call, sending.key_count));
    }
    std::vector<Answer> answers = link_.run(lane, requests, confirmation);
    for (std::size_t i = 0; i < sendings.size(); ++i) accept(how, sendings[i], std::move(answers[i]));
  }
}

void Parts::accept(How how, Sending& sending, Answer answer) {
  Job& job = *sending.job;
  try {
    job.take(job.part().accept(sending.call, std::move(answer)));
  } catch (const LostReply& error) {
    if (how == How::look && error.trouble() != Trouble::silent && job.breaks_++ == 0) return;
    job.failure_ = how == How::look ? std::make_exception_ptr(ServerError{error.trouble(), error.what()})
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

std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace easyretry::storage::redis
