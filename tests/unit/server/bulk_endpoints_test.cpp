// POST /v1/bulk: what a dry run and a start ask of the store, and what they answer.

#include <gmock/gmock.h>

#include "support/task_builder.h"
#include "unit/engine/forwarding_store.h"
#include "unit/server/api_case.h"

namespace easyretry::server {
namespace {

using http::Method;
using ::testing::AllOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kTasks = 2500;

class ReadStore : public engine::ForwardingStore {
 public:
  ReadStore() : ForwardingStore(system_clock()) {}
  Result<std::int64_t> count(const storage::TaskQuery& /*query*/) override {
    ADD_FAILURE() << "counts rows, however many there are";
    return 0;
  }
  Result<std::vector<task::TaskRecord>> list(const storage::TaskQuery& query) override {
    ++pages;
    return endless ? page_without_end(query) : ForwardingStore::list(query);
  }

  int pages = 0;
  bool endless = false;

 private:
  static std::vector<task::TaskRecord> page_without_end(const storage::TaskQuery& query) {
    constexpr std::int64_t kNewest = std::int64_t{1} << 60;
    const auto after = static_cast<std::int64_t>(query.after);
    std::int64_t id = after == 0 ? kNewest : after;
    std::vector<task::TaskRecord> page(query.limit);
    for (task::TaskRecord& record : page) record.info.id = static_cast<TaskId>(--id);
    return page;
  }
};

class BulkEndpoints : public ApiCase {
 protected:
  BulkEndpoints() : ApiCase(std::make_shared<ReadStore>()) { add_bulk_endpoints(api); }

  ReadStore& read() { return static_cast<ReadStore&>(*store); }

  // The smallest id first.
  std::vector<std::string> stored(std::size_t number) {
    std::vector<task::NewTask> tasks;
    for (std::size_t i = 0; i < number; ++i) {
      tasks.push_back(test::a_task().name_space("default").due_in(std::chrono::hours{1}));
    }
    std::vector<TaskId> ids;
    const auto inserted = store->insert(tasks);
    for (const auto& task : inserted->tasks) ids.push_back(task.id);
    std::ranges::sort(ids);
    std::vector<std::string> texts;
    for (const TaskId id : ids) texts.push_back(to_string(id));
    return texts;
  }
  http::Response bulk(const std::string& body, const std::string& role = "operator") {
    return ask(Method::post, "/v1/bulk", token(role), body);
  }
};

TEST_F(BulkEndpoints, ADryRunFindsAllThatMatchWithoutACount) {
  const auto ids = stored(kTasks);
  for (const std::string which :
       {R"("everything":true)", R"("filter":{"handler":"pay"})", R"("filter":{"tag":"no"})"}) {
    const std::string answer = bulk(R"({"action":"retry","dry_run":true,)" + which + "}").body;
    const bool none = which.find("tag") != std::string::npos;
    EXPECT_THAT(answer,
                AllOf(HasSubstr(R"("complete":true)"), HasSubstr(none ? R"("matched":0)" : R"("matched":2500)")));
    EXPECT_THAT(answer, HasSubstr(none ? R"("sample":[])" : R"("sample":[")" + ids[0] + R"(",")" + ids[1])) << "oldest";
  }
}

TEST_F(BulkEndpoints, AStartLooksNoFurtherThanItMayChange) {
  stored(kTasks);
  read().pages = 0;
  const http::Response refused = bulk(R"({"action":"retry","everything":true,"most":10})");
  EXPECT_EQ(refused.status, 422);
  EXPECT_THAT(refused.body, HasSubstr("finds at least 1000 tasks, more than \\\"most\\\", 10"));
  EXPECT_EQ(read().pages, 1);
  EXPECT_THAT(bulk(R"({"action":"retry","everything":true,"most":2499})").body, HasSubstr("finds 2500 tasks"));
}

TEST_F(BulkEndpoints, ASearchThatFindsNoEndSaysAtLeastAfterTwoSeconds) {
  read().endless = true;
  const Instant before = system_clock().steady();
  const std::string answer = bulk(R"({"action":"retry","everything":true,"dry_run":true})").body;
  EXPECT_LT(system_clock().steady() - before, std::chrono::seconds{20});
  EXPECT_THAT(answer, AllOf(HasSubstr(R"("complete":false)"), Not(HasSubstr(R"("matched":0)"))));
  EXPECT_THAT(read().pages, Gt(1));
}

}  // namespace
}  // namespace easyretry::server
