#pragma once
// The parts of a store: one on a single server; in a cluster several, whose slots are spread over its primaries. The
// first ten bits of a key's digest say which part a task is in, and every id carries them: a key, its task and its
// history are in one part, whatever the shard. Safe to use from any thread.

#include <exception>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "storage/redis/part.h"

namespace easyretry::storage::redis {

// Scripts that one part is asked to run, one after the other. Parts that have jobs at the same time are asked together.
class Job {
 public:
  explicit Job(Part& part) : part_(part) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  virtual bool done() const = 0;
  virtual ScriptCall next() = 0;  // the same again, until take()
  virtual void take(const Reply& reply) = 0;

  Part& part() const { return part_; }
  // What ended it before it was done.
  const std::exception_ptr& failure() const { return failure_; }
  bool lost() const;     // and the last script may have been run
  bool refused() const;  // for what was to be stored

 private:
  friend class Parts;
  Part& part_;
  std::exception_ptr failure_;
  int breaks_ = 0;
};

template <class AJob>
std::vector<Job*> pointers_to(const std::vector<std::unique_ptr<AJob>>& jobs) {
  std::vector<Job*> all;
  all.reserve(jobs.size());
  for (const auto& job : jobs) all.push_back(job.get());
  return all;
}

enum class How {
  work,  // changes something
  soon,  // changes something, and must not wait behind the work
  look,  // changes nothing: tried again where a connection breaks
};

struct PartsOptions {
  std::unique_ptr<Topology> topology;
  LinkOptions link{};
  // The first part has what is not a task's. Tasks are in the others, or in it where it is the only one.
  std::vector<std::string> tags;
  PartOptions each{};
};

class Parts {
 public:
  explicit Parts(PartsOptions options);

  Part& home() { return *all_.front(); }  // has what is not a task's
  std::size_t size() const { return all_.size() - first_; }
  Part& at(std::size_t number) { return *all_[first_ + number]; }
  std::size_t number_of(TaskId id) const;
  std::size_t number_for(unsigned sequence) const { return sequence % size(); }

  // The places of each part's ids.
  template <class Items, class IdOf>
  std::vector<std::vector<std::size_t>> places(const Items& items, IdOf id_of) const {
    std::vector<std::vector<std::size_t>> of_parts(size());
    for (std::size_t i = 0; i < items.size(); ++i) of_parts[number_of(id_of(items[i]))].push_back(i);
    return of_parts;
  }

  // Until each is done or has failed.
  void run(How how, std::span<Job* const> jobs);
  template <class AJob>
  void run(How how, const std::vector<std::unique_ptr<AJob>>& jobs) {
    run(how, pointers_to(jobs));
  }
  // Requests that belong to no script.
  std::vector<Answer> look(std::span<const Request> requests) { return link_.run(Lane::control, requests, {}); }

  // Servers' clocks differ a little. By the slowest of them, what is due is due by all of them.
  TimePoint now();
  // The time of a reply that was made of several.
  TimePoint time_of(TimePoint last) { return size() == 1 ? last : now(); }

 private:
  struct Sending;
  void accept(How how, Sending& sending, Answer answer);

  Link link_;
  std::vector<std::unique_ptr<Part>> all_;
  const std::size_t first_;  // of those that have tasks
};

// Throws what failed, if anything: a lost reply before all else, because then something may have been done.
void throw_failure(std::span<Job* const> jobs);
template <class AJob>
void throw_failure(const std::vector<std::unique_ptr<AJob>>& jobs) {
  throw_failure(pointers_to(jobs));
}

// What a failure says, for people.
std::string text_of(const std::exception_ptr& failure);

}  // namespace easyretry::storage::redis
