#pragma once
// The parts of a store. A single server has one part; a cluster has several, whose slots are spread over its primaries.
// The first ten bits of a key's digest say which part a task is in, and every id contains them: a key, its task and its
// history are in one part, whatever the shard. Safe to use from any thread.

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/error.h>
#include <easyretry/time.h>

#include "storage/redis/keys.h"
#include "storage/redis/link.h"

namespace easyretry::storage::redis {

// Limits of one call of a script. A server does one thing at a time, and all clients wait for it.
inline constexpr std::size_t kItemsACall = 500;  // some milliseconds; more are hardly cheaper each
inline constexpr std::size_t kBytesACall = std::size_t{4} << 20;
inline constexpr std::size_t kMembersALoad = 2'000;
inline constexpr std::size_t kIdsARead = 2'000;  // more than can share a millisecond and a shard

// A script with its keys and arguments. Part::script() sets KEYS[1], ARGV[1] and ARGV[2].
struct ScriptCall {
  const Script& script;
  std::vector<std::string> keys{};
  std::vector<std::string> arguments{};
  bool (*wrote)(const Reply&) = nullptr;  // whether replicas have anything to confirm; null: always
  std::int64_t made_at = 0;               // by our steady clock, in microseconds
};

struct PartOptions {
  std::string tag;
  Confirmation confirmation{};
  const Clock* clock = nullptr;  // null: the server's own. For tests
  // Checks a part before it is used, and returns its incarnation. Called again if another store has taken its place.
  std::function<std::string(const Keys&, const Ask&)> open;
};

// Everything under one hash tag. A part is complete in itself: it has tasks with their keys and their history, the
// numbers of names, an incarnation, and the clock of its server. Throws server::ServerError, and LostReply if a write
// may have been executed.
class Part {
 public:
  Part(Link& link, PartOptions options);

  const Keys& keys() const { return keys_; }
  const Confirmation& confirmation() const { return options_.confirmation; }
  // Opens the part, unless it is open.
  void open();
  ScriptCall script(const Script& script);
  // The key count must live as long as the request.
  Request request(const ScriptCall& call, const std::string& key_count) const;
  Request request(const Command& command) const { return {.slot = slot_, .command = command}; }
  // The reply of a script, or its failure, thrown. Learns the time from it. Unless the server's clock is set back, the
  // estimated time never goes back: by it the engine tells tasks that it stored from earlier ones of the same key.
  Reply accept(const ScriptCall& call, Answer answer);

  Reply read(const ScriptCall& call);  // tried again if a connection breaks
  Reply read(const Command& command);
  Reply write(const Command& command);
  // Uses the control connections, so it does not queue behind the work.
  Reply write_soon(const ScriptCall& call);

  TimePoint now();                  // asks the server
  TimePoint estimated_now() const;  // from earlier replies: never ahead, unless the clock was set
  bool knows_time() const;

  // Throws ServerError if there are too many names.
  unsigned number_of(NameKind kind, std::string_view text);
  // 0 if there are already so many names that this one gets no number.
  unsigned number_if_few(NameKind kind, std::string_view text);
  std::string name_of(unsigned number);  // asks the server for an unknown number; "" if the server does not know it
  TaskClass class_of(unsigned handler) const { return names_.class_of(handler); }  // after name_of
  std::vector<Name> namespaces();                                                  // all that the store has
  std::vector<Name> used_namespaces() const;                                       // those that this process works with
  void uses(unsigned name_space);
  void uses(std::string_view name_space);  // no effect if no task was ever stored there

 private:
  Reply run(const ScriptCall& call, const Confirmation& confirmation);
  std::string opened_now();
  void learn_time(TimePoint time, std::int64_t asked_at);
  [[noreturn]] void reopen();
  unsigned ask_for_number(NameKind kind, std::string_view text, unsigned most);
  void learn_names();
  std::string incarnation() const;

  Link& link_;
  const PartOptions options_;
  const Keys keys_;
  const Slot slot_;
  Names names_;
  std::atomic<std::int64_t> offset_micros_ = std::numeric_limits<std::int64_t>::min();  // from our steady clock

  std::mutex opening_;
  mutable std::mutex mutex_;  // guards the next two
  std::string incarnation_;   // empty: not open yet
  std::set<unsigned> used_;
};

// Calls of scripts in one part, one after the other. Parts that have jobs at the same time are asked together.
class Job {
 public:
  explicit Job(Part& part) : part_(part) {}
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  virtual bool done() const = 0;
  virtual ScriptCall next() = 0;  // the same call until take()
  virtual void take(const Reply& reply) = 0;

  Part& part() const { return part_; }
  // Set if the job ended before it was done.
  const std::exception_ptr& failure() const { return failure_; }
  bool lost() const;     // it failed, and the last script may have been executed
  bool refused() const;  // it failed because of the data that was to be stored

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

enum class CallKind {
  write,
  urgent_write,  // must not queue behind other writes
  read,          // tried again if a connection breaks
};

struct PartsOptions {
  std::unique_ptr<Topology> topology;
  LinkOptions link{};
  // The first part has all data that does not belong to a task. Tasks are in the others, or in the first if there is
  // only one.
  std::vector<std::string> tags;
  PartOptions each{};
};

class Parts {
 public:
  explicit Parts(PartsOptions options);

  Part& home() { return *all_.front(); }  // has the data that does not belong to a task
  std::size_t size() const { return all_.size() - first_; }
  Part& at(std::size_t number) { return *all_[first_ + number]; }
  std::size_t number_of(TaskId id) const;
  std::size_t number_for(unsigned sequence) const { return sequence % size(); }

  // Makes a job for each part that has some of the items: AJob{part, arguments…}, and add(item, its place in `items`).
  template <class AJob, class Items, class IdOf, class... Arguments>
  std::vector<std::unique_ptr<AJob>> jobs_for(const Items& items, IdOf id_of, const Arguments&... arguments) {
    std::vector<std::unique_ptr<AJob>> of_parts(size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::size_t part = number_of(id_of(items[i]));
      if (!of_parts[part]) of_parts[part] = std::make_unique<AJob>(at(part), arguments...);
      of_parts[part]->add(items[i], i);
    }
    std::erase(of_parts, nullptr);
    return of_parts;
  }

  // Runs until each job is done or has failed.
  void run(CallKind kind, std::span<Job* const> jobs);
  template <class AJob>
  void run(CallKind kind, const std::vector<std::unique_ptr<AJob>>& jobs) {
    run(kind, pointers_to(jobs));
  }
  Link& link() { return link_; }
  // Plain commands that read.
  std::vector<Answer> look(std::span<const Request> requests) { return link_.run(Lane::control, requests, {}); }

  // The clocks of the servers differ a little. A task that is due by the slowest of them is due by all.
  TimePoint now();
  // The time of a reply that is put together from several replies.
  TimePoint time_of(TimePoint last) { return size() == 1 ? last : now(); }

 private:
  struct PendingCall;
  void accept(CallKind kind, PendingCall& call, Answer answer);

  Link link_;
  std::vector<std::unique_ptr<Part>> all_;
  const std::size_t first_;  // the first part that has tasks
};

// Throws the failure of a job, if any failed: a lost reply first, because then something may have been done.
void throw_failure(std::span<Job* const> jobs);
template <class AJob>
void throw_failure(const std::vector<std::unique_ptr<AJob>>& jobs) {
  throw_failure(pointers_to(jobs));
}

// The failure of a job that has failed: in_doubt if its last script may have been executed.
Error error_of(const Job& job, std::string_view where);

}  // namespace easyretry::storage::redis
