// The bytes in a server stay as they are: a release reads what earlier ones wrote, and instances of both work on one
// store. `layout_1.txt` has all keys of a store that was filled before record_layout.def existed, and the tasks that
// were in it. A deliberate change of the layout needs another file, and another version in set_up.cpp, unless earlier
// releases overlook it, as they do what follows the strings of a meta.

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include <easyretry/testing.h>

#include "conformance/record_text.h"
#include "storage/redis/record_layout.h"
#include "support/endings.h"
#include "unit/redis/support.h"

namespace easyretry::storage {
namespace {

using easyretry::testing::ManualClock;

constexpr TimePoint kMarch{std::chrono::milliseconds{1'773'144'000'123}};

// All keys, one line per field or member, in hexadecimal digits.
constexpr auto kDump = R"lua(
local function hex(text) return (text:gsub('.', function(c) return string.format('%02x', c:byte()) end)) end
local lines = {}
for _, key in ipairs(redis.call('KEYS', '*')) do
  if redis.call('TYPE', key).ok == 'hash' then
    local all = redis.call('HGETALL', key)
    for i = 1, #all, 2 do lines[#lines + 1] = 'HSET ' .. key .. ' ' .. hex(all[i]) .. ' ' .. hex(all[i + 1]) end
  else
    local all = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
    for i = 1, #all, 2 do lines[#lines + 1] = 'ZADD ' .. key .. ' ' .. hex(all[i + 1]) .. ' ' .. hex(all[i]) end
  end
end
table.sort(lines)
return table.concat(lines, '\n'))lua";

std::string unhex(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::vector<std::string> lines_of(std::istream&& text) {
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream text{line};
  return {std::istream_iterator<std::string>{text}, {}};
}

std::vector<std::string> fixture() {
  return lines_of(std::ifstream{EASYRETRY_ROOT "/tests/unit/redis/layout_1.txt"});
}

// Without the last attempts, which follow the strings of a meta: earlier releases read no further than these.
std::string without_attempts(const std::string& meta) {
  const auto head = redis::Unpacker{unhex(meta)}.record<redis::layout::Meta>();
  const std::size_t strings =
      head.owner_size + head.error_size + head.progress_size + head.result_size + head.rules_size;
  return meta.substr(0, 2 * (sizeof head + strings));
}

// The values that are the same in every run: tasks, members, pauses and counts. Ids and the incarnation are random.
std::vector<std::string> lasting(const std::vector<std::string>& dump) {
  std::vector<std::string> values;
  for (const std::string& line : dump) {
    const auto words = words_of(line);
    if (words.size() < 4 || words[0] != "HSET" || words[1].ends_with(":store") || words[1].ends_with(":requeued"))
      continue;
    const bool by_id = words[1].ends_with(":body") || words[1].ends_with(":meta") || words[1].ends_with(":done");
    const bool is_meta = words[1].ends_with(":meta");
    values.push_back(words[1] + (by_id ? " " : " " + words[2] + " ") +
                     (is_meta ? without_attempts(words[3]) : words[3]));
  }
  std::ranges::sort(values);
  return values;
}

Settlement end_of(Settlement::Kind kind, Millis delay = 0ms, std::string error = {}) {
  Settlement end;
  end.kind = kind;
  end.delay = delay;
  end.error = std::move(error);
  return end;
}

task::RetryRules rules_of(int max_attempts, std::string backoff = {}) {
  task::RetryRules rules;
  rules.max_attempts = max_attempts;
  rules.backoff = std::move(backoff);
  return rules;
}

// A store with a task for everything that can happen to one, so that every field of a record is used.
class Filling {
 public:
  Filling(Store& store, ManualClock& clock) : store_(store), clock_(clock) {}

  void run() {
    store_new_tasks();
    claim_some();
    change_some();
    end_some();
    ASSERT_TRUE(
        store_.beat({.name_space = test::kNamespace, .node = "a", .ttl = 10s, .says = "me", .handlers = {{"pay"}}}));
    ASSERT_TRUE(store_.pause(test::kNamespace, "mail", "no time"));
  }

 private:
  TaskRecord won(const task::NewTask& task) { return claimed(store_, {stored(store_, task)}).at(0); }
  void settle(const TaskRecord& held, Settlement end) {
    end.ticket = {held.info.id, held.info.version};
    ASSERT_TRUE(store_.settle({&end, 1}).value().applied.at(0));
  }

  void store_new_tasks() {
    task::NewTask full =
        a_task().key("pay:0123456789abcdef0123456789abcdef").business("order", "42").payload_version(3);
    full.tags = {"vip", "night"};
    full.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    full.rules = rules_of(7, "exponential 1s");
    full.rules.max_duration = 1h;
    full.rules.deadline = kMarch + 24h;
    stored(store_, full);
    stored(store_, a_task().key("later").due_in(90s).handler("mail"));
    task::NewTask failed = a_task().key("failed before it was stored");
    failed.attempts = 2;
    failed.error = "timeout";
    stored(store_, failed);
    task::NewTask held = a_task().key("stored as running");
    held.owner = "caller";
    held.lease = 40s;
    stored(store_, held);
    stored(store_, a_task().key("updated"));
    task::NewTask update = a_task().key("updated").rules(rules_of(9));
    update.on_duplicate = OnDuplicate::update_policy;
    ASSERT_FALSE(insert(store_, update).value().tasks[0].created);
  }

  void claim_some() {
    won(a_task().key("running"));
    const Ticket waits = stored(store_, a_task().key("waits for a worker"));
    const ClaimRequest claim{.tickets = {&waits, 1}, .owner = "worker", .lease = 30s, .begin = false};
    ASSERT_EQ(store_.claim(claim).value().won.size(), 1U);
    clock_.advance(1s);
    const TaskRecord renewed = won(a_task().key("renewed"));
    const Renewal renewal{.ticket = {renewed.info.id, renewed.info.version}, .lease = 90s, .progress = "half"};
    ASSERT_TRUE(store_.renew({&renewal, 1}).value().applied.at(0));
    const Ticket crashed = stored(store_, a_task().key("crashed"));
    ASSERT_EQ(claimed(store_, {crashed}).size(), 1U);
    clock_.advance(31s);
    ASSERT_EQ(claimed(store_, {{crashed.id, crashed.version + 1}}).size(), 1U);
  }

  void change_some() {
    settle(won(a_task().key("retried")), end_of(Settlement::Kind::retry, 5s, "connection refused"));
    Settlement advance = end_of(Settlement::Kind::advance, 1ms, "no");
    advance.outcome = Outcome::exhausted;
    advance.stage = Stage::on_final_failure;
    advance.result = R"({"code":500})";
    settle(won(a_task().key("advanced")), advance);
    settle(won(a_task().key("handed back")), end_of(Settlement::Kind::hand_back, 2s));
    Revision revision;
    revision.ticket = stored(store_, a_task().key("revised"));
    revision.delay = 70s;
    revision.rules = rules_of(3, "1s 2s");
    ASSERT_TRUE(store_.revise({&revision, 1}).value().applied.at(0));
    const TaskId told = stored(store_, a_task().key("told")).id;
    ASSERT_TRUE(store_.end(test::endings({&told, 1}, {.tell = true})).value().applied.at(0));
  }

  void end_some() {
    settle(won(a_task().key("succeeded")), {});
    Settlement failure = end_of(Settlement::Kind::finish, 0ms, "gave up");
    failure.outcome = Outcome::exhausted;
    settle(won(a_task().key("failed")), failure);
    const TaskId cancelled = stored(store_, a_task().key("cancelled")).id;
    ASSERT_TRUE(store_.end(test::endings({&cancelled, 1})).value().applied.at(0));
    const TaskRecord again = won(a_task().key("again"));
    failure.outcome = Outcome::rejected;
    settle(again, failure);
    ASSERT_TRUE(store_.requeue({&again.info.id, 1}).value().at(0));
  }

  Store& store_;
  ManualClock& clock_;
};

using ::testing::Gt;

class RedisStoredBytes : public RedisStoreTest {
 protected:
  std::unique_ptr<Store> open() {
    RedisOptions options;
    options.address = {.port = test::shared_server_port(ServerKind::redis),
                       .user = "easyretry",
                       .password = "secret",
                       .database = std::stoi(database.name())};
    options.prefix = "bytes";
    options.total_shards = 2;
    options.clock = &clock;
    return open_redis(options);
  }
  void forget_all() { run({"FLUSHDB"}); }
  std::vector<std::string> dump() { return lines_of(std::istringstream{run({"EVAL", kDump, "0"})}); }

  ManualClock clock{kMarch};
};

TEST_F(RedisStoredBytes, AreTheSameAsInTheFirstRelease) {
  forget_all();
  const auto now = open();
  Filling{*now, clock}.run();
  EXPECT_EQ(lasting(dump()), lasting(fixture()));
}

TEST_F(RedisStoredBytes, OfTheFirstReleaseAreReadClaimedAndSettled) {
  forget_all();
  std::map<std::string, std::string> texts;
  for (const std::string& line : fixture()) {
    const auto words = words_of(line);
    if (words[0] == "TASK") {
      texts.emplace(unhex(words[1]).substr(0, unhex(words[1]).find('\n')), unhex(words[1]));
    } else {
      run({words[0], words[1], unhex(words[2]), unhex(words[3])});
    }
  }
  ASSERT_THAT(texts, SizeIs(Gt(15)));
  const auto now = open();
  std::vector<TaskRecord> all = now->list({.limit = 100}).value();
  const auto ended = now->list({.finished = true, .limit = 100}).value();
  all.insert(all.end(), ended.begin(), ended.end());
  EXPECT_THAT(all, SizeIs(texts.size()));
  for (const TaskRecord& record : all) {
    const std::string text = test::record_text(record);
    EXPECT_EQ(text, texts[text.substr(0, text.find('\n'))]);
  }

  clock.advance(1h);  // all are due, and no lease is alive
  std::vector<Ticket> tickets;
  const auto live = now->list({.limit = 100}).value();
  for (const TaskRecord& record : live) {
    tickets.push_back({record.info.id, record.info.version});
  }
  EXPECT_THAT(loaded(*now), SizeIs(tickets.size()));
  const auto won = claimed(*now, tickets);
  EXPECT_THAT(won, SizeIs(tickets.size()));
  for (const TaskRecord& held : won) EXPECT_TRUE(finish(*now, held)) << held.info.key;
  EXPECT_EQ(now->count({}).value(), 0);
  EXPECT_THAT(now->paused(test::kNamespace).value().handlers, SizeIs(1));
}

}  // namespace
}  // namespace easyretry::storage
