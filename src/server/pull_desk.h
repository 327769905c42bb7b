#pragma once
// Where workers of other processes wait for tasks. Nothing is claimed before somebody is there to take it; what was
// claimed for one who could not take it all waits a moment for the next.
//
// Thread-safe.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/wakeup.h"
#include "engine/workers.h"

namespace easyretry::server {

class PullDesk : public std::enable_shared_from_this<PullDesk> {
 public:
  // Called once, from any thread, and must not wait for anything. Empty: nothing came in time.
  using Lend = std::function<void(std::vector<engine::RunPtr>)>;
  struct Ask {
    std::vector<std::string> handlers;
    std::size_t most = 1;
    Instant until{};
    Lend lend;
  };
  using HandBack = std::function<void(std::vector<engine::RunPtr>)>;
  using Attended = std::function<void()>;

  // `wanted` is notified when there is room for more; `hand_back` gets what nobody fetches; `attended` is called when
  // somebody asks for a handler that nobody had asked for in a while.
  PullDesk(
      const Clock& clock, engine::Wakeup& wanted, HandBack hand_back, Attended attended = [] {});

  std::shared_ptr<engine::RemoteExecutor> of(const std::string& handler);

  // A worker that does not tell owners of final failures asks for tasks of these handlers. Until one does, nobody
  // knows.
  void no_telling(std::span<const std::string> handlers);

  std::uint64_t wait(Ask ask);
  // Whoever asked is gone; false: he has been given something already.
  bool leave(std::uint64_t number);

  // Lets those go who have waited long enough, and hands back what nobody fetched.
  engine::Step step();
  // Everybody is let go, and nobody waits from now on.
  void close();

  engine::Wakeup wakeup;

 private:
  class Handler;
  struct Kept {
    engine::RunPtr run;
    Instant until{};
  };

  bool may_tell(const std::string& handler);
  std::size_t room(const std::string& handler, std::size_t coming);
  bool attended(const std::string& handler);
  // Under mutex_
  bool is_attended(const std::string& handler) const;
  void saw(const Ask& ask);
  void take(const std::string& handler, std::vector<engine::RunPtr> runs);
  std::vector<engine::RunPtr> kept_for(const Ask& ask);  // under mutex_

  const Clock& clock_;
  engine::Wakeup& wanted_;
  const HandBack hand_back_;
  const Attended attended_;
  std::mutex mutex_;
  // Guarded by mutex_
  std::map<std::uint64_t, Ask> waiting_;  // in the order in which they came
  std::map<std::string, std::vector<Kept>> kept_;
  std::map<std::string, Instant> seen_;  // by handler: when somebody last came who asks for it, or went
  std::set<std::string> untold_;         // handlers of workers that do not tell of final failures
  std::uint64_t last_ = 0;
  bool closed_ = false;
};

}  // namespace easyretry::server
