#pragma once
// A store behind a network that fails on command, and the same database without it.

#include <memory>
#include <string>
#include <vector>

#include "fault/each_server.h"
#include "storage/open.h"
#include "support/cutting_proxy.h"
#include "support/tasks_by_key.h"
#include "support/test_database.h"

namespace easyretry::fault {

class StoreThroughProxy : public OnEachServer {
 protected:
  // The first insert makes the tables, and the connections are there when a test begins.
  StoreThroughProxy() { insert(*store_, test::a_task()).value(); }

  // A Redis server does not run a script that it does not have yet: the lost reply would be to nothing.
  void SetUp() override {
    storage::Settlement end;
    end.ticket = claimed("the first of all");
    ASSERT_TRUE(direct_->settle({&end, 1}).value().applied.at(0));
  }

  static storage::InsertResult insert(storage::Store& store, const task::NewTask& task) {
    return store.insert({&task, 1});
  }

  // The task of a key, as the database has it.
  std::vector<storage::TaskRecord> look(const std::string& key, bool finished = false) {
    return test::tasks_by_key(*direct_, key, finished);
  }
  storage::Ticket stored(const std::string& key) { return test::stored(*direct_, key); }
  storage::Ticket claimed(const std::string& key) { return test::claimed(*direct_, key, kLease); }

  Result<storage::ClaimReply> claim(const storage::Ticket& ticket, const std::string& owner) {
    return store_->claim({{&ticket, 1}, owner, kLease});
  }

  Result<storage::Applied> settle(const storage::Ticket& ticket, const std::string& error) {
    storage::Settlement settlement;
    settlement.ticket = ticket;
    settlement.outcome = Outcome::rejected;
    settlement.error = error;
    return store_->settle({&settlement, 1});
  }

  static constexpr Millis kLease{std::chrono::hours{1}};
  const test::TestDatabase database_{GetParam()};
  test::CuttingProxy proxy_{test::shared_server_port(GetParam())};
  const std::unique_ptr<storage::Store> direct_ = storage::open_store(database_.url(), system_clock());
  const std::unique_ptr<storage::Store> store_ =
      storage::open_store(in_the_clear(GetParam(), database_.url_through(proxy_.port())), system_clock());
};

}  // namespace easyretry::fault
