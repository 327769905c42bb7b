// Every request that a verb of a store sends is lost once, and every reply. What the verb answers is true, and it may
// be called again.

#include <iostream>

#include <gmock/gmock.h>

#include "cuts/each_fault.h"
#include "fault/store_through_proxy.h"
#include "support/plain_sql.h"

namespace easyretry::cuts {
namespace {

using fault::kind_name;
using storage::Store;
using test::Lost;
using test::ServerKind;

class EachExchange : public fault::StoreThroughProxy, public FaultyPlace {
 protected:
  void lose_each(Lost what) {
    what_ = what;
    const int lost = meet_each_fault(*this, verbs_, verbs_.all(), what == Lost::request ? "request" : "reply");
    std::cout << lost << " exchanges were lost\n";
    EXPECT_GT(lost, 25);
  }

 private:
  Store& store() override { return *store_; }
  Store& plain() override { return *direct_; }
  void fail_after(std::size_t exchanges) override { proxy_.lose_after(exchanges, what_); }
  bool take_back() override { return proxy_.take_back_loss(); }

  void fill_inbox() {
    if (GetParam() == ServerKind::redis) return;
    test::connect_plainly(GetParam(), test::shared_server_port(GetParam()), database_.name())
        ->run("INSERT INTO retry_inbox (namespace, method_name, params_json) VALUES ('shop', '" +
              std::string{Verbs::kOfTheInbox} + "', '[]')");
  }

  Lost what_ = Lost::request;
  Verbs verbs_{[this]() -> Store& { return plain(); }, [this] { fill_inbox(); }};
};
ON_EACH_SERVER(EachExchange);
ON_REDIS(EachExchange);

TEST_P(EachExchange, MayLoseItsRequest) {
  lose_each(Lost::request);
}

TEST_P(EachExchange, MayLoseItsReply) {
  lose_each(Lost::reply);
}

}  // namespace
}  // namespace easyretry::cuts
