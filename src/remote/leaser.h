#pragma once
// Fetches tasks from a daemon as there is room for them, and delivers them to the workers: what Loader and Claimer are
// to an engine on a database. One thread; stop() from any.

#include <stop_token>

#include "engine/core.h"
#include "engine/dispatcher.h"
#include "remote/remote_store.h"

namespace easyretry::remote {

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
  LeaseWish wish();
  engine::Step pause();
  void deliver(LeaseReply reply, Instant sent);

  engine::Context& context_;
  engine::Workers& workers_;
  const engine::Dispatcher dispatcher_;
  RemoteStore& store_;
  std::stop_source stop_;
  int failures_ = 0;  // in a row
};

}  // namespace easyretry::remote
