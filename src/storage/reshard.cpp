#include "storage/reshard.h"

#include <limits>
#include <stdexcept>
#include <string_view>

#include "storage/layout.h"
#include "task/task_id.h"

namespace easyretry::storage {
namespace {

// 30 to 75 ms a transaction on PostgreSQL and MariaDB where three rows of four change: whole runs of 40,000 tasks
// divided by their pages, on a busy machine.
constexpr std::size_t kRowsAPage = 2000;
constexpr TaskId kBeforeAll{std::numeric_limits<std::int64_t>::min()};

// Tasks stay in their tables only where these divide the number.
void validate_count(const Layout& layout, int shards) {
  validate(Layout::single(), shards);
  const int tables = layout.tables();
  if (shards % tables == 0) return;
  const int below = shards / tables * tables;
  const int above = below + tables;
  std::string near = below > 0 ? std::to_string(below) : std::string{};
  if (above <= task::kMaxShards) near += (near.empty() ? "" : " or ") + std::to_string(above);
  throw std::invalid_argument("the " + std::to_string(tables) + " tables of " + to_text(layout) + " do not divide " +
                              std::to_string(shards) + " shards; use " + near);
}

Layout settled_layout(std::string_view text) {
  const auto mark = text.find('>');
  if (mark == std::string_view::npos) return parse_layout(text);
  throw std::invalid_argument("the tables are being split; finish that first, with `easyretry split --store … --to " +
                              std::to_string(parse_layout(text.substr(mark + 1)).tables()) + "`");
}

class Resharding {
 public:
  Resharding(ShardedRows& store, const std::string& where, const ReshardRequest& request)
      : store_(store), where_(where), request_(request) {}

  ReshardPlan run() {
    const StoredSettings settings = store_.settings();
    validate_count(settled_layout(settings.layout), request_.shards);
    ShardCount count = parse_shard_count(settings.total_shards);
    check_no_other(count);
    ReshardPlan plan = survey(count);
    if (request_.only_plan || plan.nothing_to_do()) return plan;
    check_nobody_works(plan);
    if (!count.becoming) count = begin(count);
    renumber(count);
    change(count, {request_.shards});
    return plan;
  }

 private:
  void check_no_other(const ShardCount& count) const {
    if (!count.becoming || *count.becoming == request_.shards) return;
    throw std::invalid_argument("a change to " + std::to_string(*count.becoming) +
                                " shards has begun; finish that one first");
  }

  // A worker holds no lock: what it does meanwhile is right by the old number only.
  void check_nobody_works(const ReshardPlan& plan) const {
    if (plan.leased == 0) return;
    throw StoreError{{Errc::unavailable, where_,
                      std::to_string(plan.leased) + " tasks are running, one of them on " + plan.holder +
                          "; stop all instances and try again. The tasks of an instance that died are free when their "
                          "leases have expired"}};
  }

  // A split that began at the same moment goes first: its tables may not divide the new number.
  ShardCount begin(const ShardCount& count) {
    const ShardCount marked{count.shards, request_.shards};
    change(count, marked);
    try {
      validate_count(settled_layout(store_.settings().layout), request_.shards);
    } catch (const std::invalid_argument&) {
      change(marked, count);
      throw;
    }
    return marked;
  }

  void change(const ShardCount& from, const ShardCount& to) {
    if (!store_.change(from, to)) overtaken();
  }

  [[noreturn]] void overtaken() const {
    throw StoreError{{Errc::conflict, where_,
                      "another process changed the number of shards meanwhile; check its change, then try again"}};
  }

  ReshardPlan survey(const ShardCount& count) {
    ReshardPlan plan{.from = count.shards, .to = request_.shards, .begun = count.becoming.has_value()};
    for (const std::string& table : store_.tables()) {
      ++plan.tables;
      pages(table, [&](const ShardPageQuery& query) {
        ShardPage page = store_.look(query);
        plan.rows += page.rows;
        plan.misnumbered += page.misnumbered;
        plan.leased += page.leased;
        if (page.leased > 0) plan.holder = page.holder;
        return page;
      });
    }
    return plan;
  }

  // Held up for long enough, it would renumber what somebody else has finished, and changed again.
  void renumber(const ShardCount& marked) {
    ReshardProgress progress;
    for (const std::string& table : store_.tables()) {
      ++progress.table;
      pages(table, [&](const ShardPageQuery& query) {
        const auto page = store_.renumber(query, marked);
        if (!page) overtaken();
        progress.rows += page->rows;
        request_.progress(progress);
        return *page;
      });
    }
  }

  template <class Visit>
  void pages(const std::string& table, Visit visit) {
    ShardPageQuery query{table, request_.shards, kBeforeAll, kRowsAPage};
    while (true) {
      const ShardPage page = visit(query);
      if (page.rows < static_cast<std::int64_t>(kRowsAPage)) return;
      query.after = page.last;
    }
  }

  ShardedRows& store_;
  const std::string& where_;
  const ReshardRequest& request_;
};

}  // namespace

ReshardPlan reshard(ShardedRows& store, const std::string& where, const ReshardRequest& request) {
  return Resharding{store, where, request}.run();
}

StoreError nothing_there(const std::string& where, const std::string& url) {
  return StoreError{{Errc::not_found, where, "there is no EasyRetry store at " + url + " yet; check the url"}};
}

}  // namespace easyretry::storage
