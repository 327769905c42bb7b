// Every request that a verb of a store sends is lost once, and every reply. What the verb answers is true, and it may
// be called again.
//
// No list says which requests there are: a verb is called on a fresh task each time, and one more of its exchanges gets
// through, until a call loses none.

#include <algorithm>
#include <atomic>
#include <iostream>

#include <gmock/gmock.h>

#include "cuts/counting_store.h"
#include "fault/store_through_proxy.h"
#include "support/eventually.h"
#include "support/plain_sql.h"

namespace easyretry::cuts {
namespace {

using namespace std::chrono_literals;
using fault::kind_name;
using storage::Store;
using test::kNamespace;
using test::Lost;
using test::ServerKind;

constexpr auto kHeld = "held";  // a handler that is paused and resumed

struct Answer {
  std::optional<Error> error;
  bool changed = false;
};

template <class T, class E, class Changed>
Answer answer_of(const tl::expected<T, E>& reply, Changed changed) {
  if (!reply) return {Error{reply.error()}};
  return {std::nullopt, changed(*reply)};
}

template <class T, class E>
Answer answer_of(const tl::expected<T, E>& reply) {
  return answer_of(reply, [](const T&) { return true; });
}

struct Verb {
  enum class Kind {
    reads,     // never in doubt
    changes,   // may say after a repetition that it has changed nothing
    compares,  // a compare-and-set: says exactly whether it has changed something
  };
  std::string name;
  Kind kind;
  std::function<Answer(Store&)> call;
  std::function<void()> prepare{};
  std::function<int()> made{};  // how often the change was made, as the database has it. Null: it cannot be seen
};
using Kind = Verb::Kind;

class EachExchange : public fault::StoreThroughProxy {
 protected:
  void lose_each(Lost what);

 private:
  std::vector<Verb> life_of_a_task();
  std::vector<Verb> reads();
  std::vector<Verb> members_and_pauses();
  std::vector<Verb> upkeep();
  std::vector<Verb> announcements();

  int lose_each(const Verb& verb, Lost what);
  static void expect_true(const Verb& verb, const Answer& answer);
  void expect_to_work_again(const Verb& verb);
  void expect_exact_counts();

  void end_it() {
    storage::Settlement end;
    end.ticket = ticket_ = claimed(key_);
    ASSERT_TRUE(direct_->settle({&end, 1}).value().applied.at(0));
  }
  int live() { return static_cast<int>(look(key_).size()); }
  int ended() { return static_cast<int>(look(key_, true).size()); }
  int is_member() {
    const auto members = direct_->members(kNamespace).value().members;
    return static_cast<int>(std::ranges::count(members, key_, &Member::node));
  }
  int is_paused() {
    const auto paused = direct_->paused(kNamespace).value().handlers;
    return static_cast<int>(std::ranges::count(paused, kHeld, &PausedHandler::handler));
  }
  int is_saved() {
    const auto parts = direct_->saved_series(kNamespace).value();
    return static_cast<int>(std::ranges::count(parts, key_, &storage::SeriesPart::text));
  }
  storage::Beat beat() const { return {.name_space = kNamespace, .node = key_, .ttl = 1min}; }
  static TaskQuery pay() { return {.name_space = kNamespace, .handler = "pay"}; }

  CountingStore store_under_test_{*store_};
  std::string key_;  // of the task, or the name of whatever else is changed
  storage::Ticket ticket_;
};
ON_EACH_SERVER(EachExchange);
ON_REDIS(EachExchange);

bool first(const storage::Applied& reply) {
  return reply.applied.at(0);
}

std::vector<Verb> EachExchange::life_of_a_task() {
  const auto store_it = [this] { ticket_ = stored(key_); };
  const auto claim_it = [this] { ticket_ = claimed(key_); };
  return {
      {"insert",
       Kind::compares,
       [this](Store& store) {
         return answer_of(insert(store, test::a_task().key(key_)), [](const auto& r) { return r.tasks[0].created; });
       },
       {},
       [this] { return live(); }},
      {"claim", Kind::compares,
       [this](Store& store) {
         return answer_of(store.claim({{&ticket_, 1}, "worker", kLease}), [](const auto& r) { return !r.won.empty(); });
       },
       store_it, [this] { return look(key_).at(0).info.deliveries; }},
      {"settle", Kind::compares,
       [this](Store& store) {
         storage::Settlement end;
         end.ticket = ticket_;
         return answer_of(store.settle({&end, 1}), first);
       },
       claim_it, [this] { return ended(); }},
      {"renew", Kind::changes,
       [this](Store& store) {
         const storage::Renewal renewal{ticket_, 2 * kLease};
         return answer_of(store.renew({&renewal, 1}), first);
       },
       claim_it,
       [this] {
         return look(key_).at(0).lease_until > look(key_).at(0).info.created_at + kLease + kLease / 2 ? 1 : 0;
       }},
      {"revise", Kind::compares,
       [this](Store& store) {
         const storage::Revision revision{ticket_, 1h};
         return answer_of(store.revise({&revision, 1}), first);
       },
       store_it, [this] { return static_cast<int>(look(key_).at(0).info.version - ticket_.version); }},
      {"end", Kind::compares,
       [this](Store& store) {
         const storage::Ending ending{.id = ticket_.id};
         return answer_of(store.end({&ending, 1}), first);
       },
       store_it, [this] { return ended(); }},
      {"requeue", Kind::compares,
       [this](Store& store) {
         return answer_of(store.requeue({&ticket_.id, 1}), [](const auto& r) { return r.at(0).has_value(); });
       },
       [this] { end_it(); }, [this] { return live(); }},
      {"requeue_with", Kind::compares,
       [this](Store& store) {
         return answer_of(store.requeue_with(ticket_.id, "[1]"), [](const auto& r) { return r.has_value(); });
       },
       [this] { end_it(); }, [this] { return live(); }},
      // Part of a transaction of the application, whose connection it uses: another store's is refused.
      {"insert_within",
       Kind::compares,
       [this](Store& store) {
         const task::NewTask task = test::a_task().key(key_);
         return answer_of(store.insert_within(sqlite_tx(nullptr), {&task, 1}));
       },
       {},
       [this] { return live(); }},
  };
}

std::vector<Verb> EachExchange::reads() {
  const auto every_shard = [] {
    std::vector<storage::ShardCursor> all;
    for (std::uint16_t shard = 0; shard < 64; ++shard) all.push_back({.shard = ShardId{shard}});
    return all;
  };
  return {
      {"load", Kind::reads,
       [all = every_shard()](Store& store) { return answer_of(store.load({.name_space = kNamespace, .from = all})); }},
      {"find", Kind::reads,
       [this](Store& store) {
         return answer_of(store.find({&ticket_.id, 1}));
       }},
      {"list", Kind::reads, [](Store& store) { return answer_of(store.list(pay())); }},
      {"count", Kind::reads, [](Store& store) { return answer_of(store.count(pay())); }},
      {"scan", Kind::reads, [](Store& store) { return answer_of(store.scan(pay())); }},
      {"counts", Kind::reads, [](Store& store) { return answer_of(store.counts(kNamespace)); }},
      {"members", Kind::reads, [](Store& store) { return answer_of(store.members(kNamespace)); }},
      {"paused", Kind::reads, [](Store& store) { return answer_of(store.paused(kNamespace)); }},
      {"saved_series", Kind::reads, [](Store& store) { return answer_of(store.saved_series(kNamespace)); }},
      {"tables", Kind::reads, [](Store& store) { return answer_of(store.tables()); }},
      {"info", Kind::reads,
       [](Store& store) {
         return Answer{std::nullopt, store.info().shared};
       }},
  };
}

std::vector<Verb> EachExchange::members_and_pauses() {
  return {
      {"beat",
       Kind::changes,
       [this](Store& store) { return answer_of(store.beat(beat())); },
       {},
       [this] { return is_member(); }},
      {"leave", Kind::changes,
       [this](Store& store) { return answer_of(store.leave(kNamespace, key_), [](bool left) { return left; }); },
       [this] { direct_->beat(beat()).value(); }, [this] { return 1 - is_member(); }},
      {"pause", Kind::changes,
       [](Store& store) { return answer_of(store.pause(kNamespace, kHeld, ""), [](bool was) { return was; }); },
       [this] { direct_->resume(kNamespace, kHeld).value(); }, [this] { return is_paused(); }},
      {"resume", Kind::changes,
       [](Store& store) { return answer_of(store.resume(kNamespace, kHeld), [](bool was) { return was; }); },
       [this] { direct_->pause(kNamespace, kHeld, "").value(); }, [this] { return 1 - is_paused(); }},
  };
}

std::vector<Verb> EachExchange::upkeep() {
  return {
      {"keep", Kind::changes, [](Store& store) { return answer_of(store.keep()); }},
      {"expire", Kind::changes,
       [](Store& store) {
         const storage::Retention rule{.name_space = kNamespace, .handler = "pay", .keep = 24h};
         return answer_of(store.expire({&rule, 1}));
       }},
      {"fold_counts", Kind::changes, [](Store& store) { return answer_of(store.fold_counts()); },
       [this] { stored(key_); }},
      {"save_series",
       Kind::changes,
       [this](Store& store) { return answer_of(store.save_series(kNamespace, {.number = 7, .text = key_})); },
       {},
       [this] { return is_saved(); }},
      {"take_in", Kind::compares,
       [this](Store& store) {
         const std::string handler = "of the inbox";
         const auto reply = store.take_in({kNamespace, {&handler, 1}}, [this](const storage::InboxRow&) {
           return tl::expected<task::NewTask, std::string>{test::a_task().key(key_)};
         });
         return answer_of(reply, [](const auto& r) { return !r.inserted.empty(); });
       },
       [this] {
         if (GetParam() == ServerKind::redis) return;
         test::connect_plainly(GetParam(), test::shared_server_port(GetParam()), database_.name())
             ->run(
                 "INSERT INTO retry_inbox (namespace, method_name, params_json) VALUES ('shop', 'of the inbox', '[]')");
       },
       [this] { return live(); }},
      {"split", Kind::changes, [](Store& store) { return answer_of(store.split({.tables = 2})); }},
  };
}

// Sent by a thread of the store, whenever it comes to it. An announcement may be lost, and is made again here.
std::vector<Verb> EachExchange::announcements() {
  return {
      {"listen", Kind::reads,
       [this](Store& store) {
         std::atomic<int> wakes = 0;
         const auto subscription = store.listen(key_, [&] { ++wakes; });
         const bool heard = subscription == nullptr || test::eventually([&] {
                              direct_->announce(key_);
                              return wakes > 0;
                            });
         EXPECT_TRUE(heard);
         return Answer{std::nullopt, heard};
       }},
      {"announce", Kind::reads,
       [this](Store& store) {
         std::atomic<int> wakes = 0;
         const auto subscription = direct_->listen(key_, [&] { ++wakes; });
         const int before = wakes;
         const bool heard = test::eventually([&] {
           store.announce(key_);
           return subscription == nullptr || wakes > before;
         });
         EXPECT_TRUE(heard);
         return Answer{std::nullopt, heard};
       }},
  };
}

void EachExchange::lose_each(Lost what) {
  int lost = 0;
  for (const auto& verbs : {life_of_a_task(), reads(), members_and_pauses(), upkeep(), announcements()}) {
    for (const Verb& verb : verbs) {
      const int of_verb = lose_each(verb, what);
      std::cout << verb.name << ": " << of_verb << "\n";
      lost += of_verb;
    }
  }
  EXPECT_EQ(store_under_test_.called(), verbs_of_a_store());
  std::cout << lost << " exchanges were lost\n";
  EXPECT_GT(lost, 25);
  expect_exact_counts();
}

int EachExchange::lose_each(const Verb& verb, Lost what) {
  for (int exchanges = 0;; ++exchanges) {
    key_ = verb.name + (what == Lost::request ? ":request:" : ":reply:") + std::to_string(exchanges);
    SCOPED_TRACE(key_);
    if (verb.prepare) verb.prepare();
    proxy_.lose_after(static_cast<std::size_t>(exchanges), what);
    const Answer answer = verb.call(store_under_test_);
    const bool all_got_through = proxy_.take_back_loss();
    const bool lacks_it = answer.error && answer.error->code == Errc::invalid_argument;
    if (!lacks_it) {
      expect_true(verb, answer);
      expect_to_work_again(verb);
    }
    if (all_got_through || HasFatalFailure()) return exchanges;
  }
}

void EachExchange::expect_true(const Verb& verb, const Answer& answer) {
  const int made = verb.made ? verb.made() : 0;
  EXPECT_LE(made, 1) << "made twice";
  if (!answer.error) {
    if (!verb.made) return;
    if (answer.changed) {
      EXPECT_EQ(made, 1) << "answered, and not made";
    } else if (verb.kind == Kind::compares) {
      EXPECT_EQ(made, 0) << "made, and denied";
    }
    return;
  }
  if (answer.error->code == Errc::unavailable) {
    EXPECT_EQ(made, 0) << "made, and said not to be: " << to_string(*answer.error);
    return;
  }
  EXPECT_EQ(answer.error->code, Errc::in_doubt) << to_string(*answer.error);
  EXPECT_NE(verb.kind, Kind::reads) << to_string(*answer.error);
}

// The server may still hold a row for a connection of which it has not noticed that it was cut.
void EachExchange::expect_to_work_again(const Verb& verb) {
  Answer again = verb.call(store_under_test_);
  EXPECT_FALSE(again.error) << to_string(*again.error);
  if (!verb.made) return;
  EXPECT_TRUE(test::eventually([&] { return verb.made() == 1 || (verb.call(store_under_test_), false); }));
  EXPECT_EQ(verb.made(), 1);
}

void EachExchange::expect_exact_counts() {
  const auto counted = direct_->counts(kNamespace).value().at("pay");
  EXPECT_EQ(counted.live(), direct_->count(pay()).value());
  TaskQuery ended = pay();
  ended.finished = true;
  ended.requeued = true;
  EXPECT_EQ(counted.total.ended_in_all(), direct_->count(ended).value());
}

TEST_P(EachExchange, MayLoseItsRequest) {
  lose_each(Lost::request);
}

TEST_P(EachExchange, MayLoseItsReply) {
  lose_each(Lost::reply);
}

}  // namespace
}  // namespace easyretry::cuts
