#include "cuts/verbs.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include <gtest/gtest.h>

#include "support/eventually.h"
#include "support/tasks_by_key.h"

namespace easyretry::cuts {
namespace {

using namespace std::chrono_literals;
using storage::Store;
using test::kNamespace;
using Kind = Verb::Kind;

constexpr Millis kLease{1h};
constexpr auto kHeld = "held";  // a handler that is paused and resumed

bool first(const storage::Applied& reply) {
  return reply.applied.at(0);
}

int is_paused(Store& in) {
  const auto paused = test::must(in.paused(kNamespace)).handlers;
  return static_cast<int>(std::ranges::count(paused, kHeld, &PausedHandler::handler));
}

TaskQuery pay() {
  return {.name_space = kNamespace, .handler = "pay"};
}

std::vector<storage::ShardCursor> every_shard() {
  std::vector<storage::ShardCursor> all;
  for (std::uint16_t shard = 0; shard < 64; ++shard) all.push_back({.shard = ShardId{shard}});
  return all;
}

}  // namespace

void expect_true(const Verb& verb, const Answer& answer, int made) {
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

Verbs::Verbs(std::function<Store&()> plain, std::function<void()> fill_inbox)
    : plain_(std::move(plain)), fill_inbox_(std::move(fill_inbox)) {}

std::vector<Verb> Verbs::all() {
  std::vector<Verb> all;
  for (const auto& some :
       {life_of_a_task(), ends_of_a_task(), reads(), members_and_pauses(), upkeep(), announcements()}) {
    std::ranges::copy(some, std::back_inserter(all));
  }
  return all;
}

Answer Verbs::insert(Store& store) const {
  const task::NewTask task = test::a_task().key(key_);
  return answer_of(store.insert({&task, 1}), [](const auto& reply) { return reply.tasks[0].created; });
}

void Verbs::store_it() {
  ticket_ = test::stored(plain_(), key_);
}

void Verbs::claim_it() {
  ticket_ = test::claimed(plain_(), key_, kLease);
}

void Verbs::end_it() {
  claim_it();
  storage::Settlement end;
  end.ticket = ticket_;
  ASSERT_TRUE(test::must(plain_().settle({&end, 1})).applied.at(0));
}

int Verbs::live(Store& in) const {
  return static_cast<int>(test::tasks_by_key(in, key_).size());
}

int Verbs::ended(Store& in) const {
  return static_cast<int>(test::tasks_by_key(in, key_, true).size());
}

storage::TaskRecord Verbs::look(Store& in) const {
  return test::tasks_by_key(in, key_).at(0);
}

// A store for one instance has no members.
int Verbs::is_member(Store& in) const {
  if (!in.info().shared) return 0;
  const auto members = test::must(in.members(kNamespace)).members;
  return static_cast<int>(std::ranges::count(members, key_, &Member::node));
}

int Verbs::is_saved(Store& in) const {
  const auto parts = test::must(in.saved_series(kNamespace));
  return static_cast<int>(std::ranges::count(parts, key_, &storage::SeriesPart::text));
}

storage::Beat Verbs::beat() const {
  return {.name_space = kNamespace, .node = key_, .ttl = 1min};
}

std::vector<Verb> Verbs::life_of_a_task() {
  const auto live_now = [this](Store& in) { return live(in); };
  return {
      {"insert", Kind::compares, [this](Store& store) { return insert(store); }, {}, live_now},
      // Part of a transaction of the application, whose connection it uses: another store's is refused.
      {"insert_within",
       Kind::compares,
       [this](Store& store) {
         const task::NewTask task = test::a_task().key(key_);
         return answer_of(store.insert_within(sqlite_tx(nullptr), {&task, 1}));
       },
       {},
       live_now},
      {"claim", Kind::compares,
       [this](Store& store) {
         return answer_of(store.claim({{&ticket_, 1}, "worker", kLease}), [](const auto& r) { return !r.won.empty(); });
       },
       [this] { store_it(); }, [this](Store& in) { return look(in).info.deliveries; }},
      {"renew", Kind::changes,
       [this](Store& store) {
         const storage::Renewal renewal{ticket_, 2 * kLease};
         return answer_of(store.renew({&renewal, 1}), first);
       },
       [this] { claim_it(); },
       [this](Store& in) {
         const storage::TaskRecord task = look(in);
         return task.lease_until > task.info.created_at + kLease + kLease / 2 ? 1 : 0;
       }},
      {"revise", Kind::compares,
       [this](Store& store) {
         const storage::Revision revision{ticket_, 1h};
         return answer_of(store.revise({&revision, 1}), first);
       },
       [this] { store_it(); }, [this](Store& in) { return static_cast<int>(look(in).info.version - ticket_.version); }},
  };
}

std::vector<Verb> Verbs::ends_of_a_task() {
  const auto live_now = [this](Store& in) { return live(in); };
  const auto ended_now = [this](Store& in) { return ended(in); };
  return {
      {"settle", Kind::compares,
       [this](Store& store) {
         storage::Settlement end;
         end.ticket = ticket_;
         return answer_of(store.settle({&end, 1}), first);
       },
       [this] { claim_it(); }, ended_now},
      {"end", Kind::compares,
       [this](Store& store) {
         const storage::Ending ending{.id = ticket_.id};
         return answer_of(store.end({&ending, 1}), first);
       },
       [this] { store_it(); }, ended_now},
      {"requeue", Kind::compares,
       [this](Store& store) {
         return answer_of(store.requeue({&ticket_.id, 1}), [](const auto& r) { return r.at(0).has_value(); });
       },
       [this] { end_it(); }, live_now},
      {"requeue_with", Kind::compares,
       [this](Store& store) {
         return answer_of(store.requeue_with(ticket_.id, "[1]"), [](const auto& r) { return r.has_value(); });
       },
       [this] { end_it(); }, live_now},
  };
}

std::vector<Verb> Verbs::reads() {
  return {
      {"load", Kind::reads,
       [all = every_shard()](Store& store) { return answer_of(store.load({.name_space = kNamespace, .from = all})); }},
      {"find", Kind::reads,
       [this](Store& store) {
         return answer_of(store.find({&ticket_.id, 1}));
       },
       [this] { store_it(); }},
      {"list", Kind::reads, [](Store& store) { return answer_of(store.list(pay())); }},
      // What it finds is on the disk when it answers.
      {"list a key", Kind::reads,
       [this](Store& store) { return answer_of(store.list({.name_space = kNamespace, .key = key_})); },
       [this] { claim_it(); }},
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

std::vector<Verb> Verbs::members_and_pauses() {
  return {
      {"beat",
       Kind::changes,
       [this](Store& store) { return answer_of(store.beat(beat())); },
       {},
       [this](Store& in) { return is_member(in); }},
      {"leave", Kind::changes,
       [this](Store& store) { return answer_of(store.leave(kNamespace, key_), [](bool left) { return left; }); },
       [this] {
         if (plain_().info().shared) test::must(plain_().beat(beat()));
       },
       [this](Store& in) { return 1 - is_member(in); }},
      {"pause", Kind::changes,
       [](Store& store) { return answer_of(store.pause(kNamespace, kHeld, ""), [](bool was) { return was; }); },
       [this] { test::must(plain_().resume(kNamespace, kHeld)); }, is_paused},
      {"resume", Kind::changes,
       [](Store& store) { return answer_of(store.resume(kNamespace, kHeld), [](bool was) { return was; }); },
       [this] { test::must(plain_().pause(kNamespace, kHeld, "")); }, [](Store& in) { return 1 - is_paused(in); }},
  };
}

std::vector<Verb> Verbs::upkeep() {
  return {
      {"keep", Kind::changes, [](Store& store) { return answer_of(store.keep()); }},
      {"expire", Kind::changes,
       [](Store& store) {
         const storage::Retention rule{.name_space = kNamespace, .handler = "pay", .keep = 24h};
         return answer_of(store.expire({&rule, 1}));
       }},
      {"fold_counts", Kind::changes, [](Store& store) { return answer_of(store.fold_counts()); },
       [this] { store_it(); }},
      {"save_series",
       Kind::changes,
       [this](Store& store) { return answer_of(store.save_series(kNamespace, {.number = 7, .text = key_})); },
       {},
       [this](Store& in) { return is_saved(in); }},
      {"take_in", Kind::compares,
       [this](Store& store) {
         const std::string handler = kOfTheInbox;
         const auto reply = store.take_in({kNamespace, {&handler, 1}}, [this](const storage::InboxRow&) {
           return tl::expected<task::NewTask, std::string>{test::a_task().key(key_)};
         });
         return answer_of(reply, [](const auto& r) { return !r.inserted.empty(); });
       },
       fill_inbox_, [this](Store& in) { return live(in); }},
      {"split", Kind::changes, [](Store& store) { return answer_of(store.split({.tables = 2})); }},
  };
}

// Sent by a thread of the store, whenever it comes to it. An announcement may be lost, and is made again here.
std::vector<Verb> Verbs::announcements() {
  return {
      {"listen", Kind::reads,
       [this](Store& store) {
         std::atomic<int> wakes = 0;
         const auto subscription = store.listen(key_, [&] { ++wakes; });
         const bool heard = subscription == nullptr || test::eventually([&] {
                              plain_().announce(key_);
                              return wakes > 0;
                            });
         EXPECT_TRUE(heard);
         return Answer{std::nullopt, heard};
       }},
      {"announce", Kind::reads,
       [this](Store& store) {
         std::atomic<int> wakes = 0;
         const auto subscription = plain_().listen(key_, [&] { ++wakes; });
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

}  // namespace easyretry::cuts
