#include "storage/reshard.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <string_view>

#include "storage/layout.h"
#include "task/task_id.h"

namespace easyretry::storage {
namespace {

// 30 to 75 ms per transaction on PostgreSQL and MariaDB if three rows in four change (measured over 40,000 tasks on a
// busy machine).
constexpr std::size_t kRowsAPage = 2000;
constexpr TaskId kBeforeAll{std::numeric_limits<std::int64_t>::min()};

int parse_number(std::string_view digits, std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc{} && end == digits.data() + digits.size();
  if (whole && number >= 1 && number <= task::kMaxShards) return number;
  throw std::invalid_argument("total_shards in retry_meta is \"" + std::string{text} +
                              "\", which is not a number of shards; it is corrupted or was edited manually");
}

std::string reshard_command(int shards) {
  return "`easyretry reshard --store … --shards " + std::to_string(shards) + "`";
}

// Tasks stay in their tables only if the number of tables divides the count.
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

class Resharder {
 public:
  Resharder(ShardedRows& store, const std::string& where, const ReshardRequest& request)
      : store_(store), where_(where), request_(request) {}

  ReshardPlan run() {
    const StoredSettings settings = store_.settings();
    validate_count(settled_layout(settings.layout), request_.shards);
    ShardCount count = parse_shard_count(settings.total_shards);
    check_no_other(count);
    ReshardPlan plan = survey(count);
    if (request_.only_plan || plan.nothing_to_do()) return plan;
    check_no_leases(plan);
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

  // A worker holds no lock: its changes are right only under the old count.
  void check_no_leases(const ReshardPlan& plan) const {
    if (plan.leased == 0) return;
    throw StoreError{{Errc::unavailable, where_,
                      plan.running_tasks() + "; stop all instances and try again. The tasks of an instance that died " +
                          "are free when their leases have expired"}};
  }

  // A split that began at the same moment has priority: its number of tables may not divide the new count.
  // The old number is stored before anything changes. If this run is cut off, the next one continues from the mark.
  ShardCount begin(const ShardCount& count) {
    if (!store_.remember(count.shards)) overtaken();
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

  // Checks the count in every transaction: if this run is delayed for long, another one may have finished the change
  // and begun the next.
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

constexpr std::size_t kMostEarlier = 8;

std::vector<int> parse_numbers(std::string_view text) {
  std::vector<int> numbers;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    int number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    const bool complete = stop == end || *stop == ',';
    if (error != std::errc{} || !complete || number < 1 || number > task::kMaxShards) {
      throw std::invalid_argument("earlier_shards in retry_meta is \"" + std::string{text} +
                                  "\", which is not a list of numbers such as 64,32; it is corrupted or was edited "
                                  "manually");
    }
    numbers.push_back(number);
    at = stop == end ? end : stop + 1;
  }
  return numbers;
}

}  // namespace

std::string to_text(const ShardCount& count) {
  const std::string now = std::to_string(count.shards);
  return count.becoming ? now + ">" + std::to_string(*count.becoming) : now;
}

ShardCount parse_shard_count(std::string_view text) {
  const auto mark = text.find('>');
  if (mark == std::string_view::npos) return {parse_number(text, text)};
  return {parse_number(text.substr(0, mark), text), parse_number(text.substr(mark + 1), text)};
}

std::optional<std::string> shard_refusal(const ShardCount& there, int mine) {
  const std::string has = std::to_string(there.shards);
  if (there.becoming) {
    return "the number of shards is being changed from " + has + " to " + std::to_string(*there.becoming) +
           "; finish that with " + reshard_command(*there.becoming);
  }
  if (there.shards == mine) return std::nullopt;
  return "the store has shards=" + has + ", but this instance is configured with shards=" + std::to_string(mine) +
         "; set shards=" + has + " in its url, or stop all instances and run " + reshard_command(mine);
}

std::string ReshardPlan::running_tasks() const {
  if (leased == 1) return "1 task is running, on " + holder;
  return std::to_string(leased) + " tasks are running, one of them on " + holder;
}

std::string shard_by_id(int total_shards) {
  return "((id >> " + std::to_string(task::kSequenceBits) + ") & " + std::to_string(task::kMaxShards - 1) + ") % " +
         std::to_string(total_shards);
}

ReshardPlan reshard(ShardedRows& store, const std::string& where, const ReshardRequest& request) {
  return Resharder{store, where, request}.run();
}

StoreError nothing_there(const std::string& where, const std::string& url) {
  return StoreError{{Errc::not_found, where, "there is no EasyRetry store at " + url + " yet; check the url"}};
}

std::string add_earlier_shards(std::string_view text, int shards) {
  std::vector<int> numbers = parse_numbers(text);
  std::erase(numbers, shards);
  numbers.push_back(shards);
  if (numbers.size() > kMostEarlier) numbers.erase(numbers.begin());
  std::string all;
  for (const int number : numbers) all += (all.empty() ? "" : ",") + std::to_string(number);
  return all;
}

std::vector<int> parse_earlier_shards(std::string_view text, int total_shards) {
  std::vector<int> numbers = parse_numbers(text);
  std::erase_if(numbers, [&](int number) { return number >= total_shards; });
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace easyretry::storage
