// Everything besides the life of a task: the settings of a database, searches, counts, members, pauses, tables, calls
// submitted by plain SQL, announcements.

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <stdexcept>

#include "storage/checks.h"
#include "storage/history.h"
#include "storage/list_walk.h"
#include "storage/sql/housekeeping.h"
#include "storage/sql/maintenance.h"
#include "storage/sql/server_store.h"
#include "storage/sql/splitter.h"

namespace easyretry::storage::sql {
namespace {

std::string new_identity() {
  base::Random random{base::random_seed()};
  return std::to_string(random.next()) + std::to_string(random.next());
}

std::string differs(const std::string& option, const std::string& there, const std::string& mine) {
  return "the database was created with " + option + "=" + there + ", but this instance is configured with " + option +
         "=" + mine + "; set " + option + "=" + there + " in its url";
}

std::string split_hint(const Layout& there, const Layout& mine) {
  const bool both = there.kind() == Layout::Kind::hash && mine.kind() == Layout::Kind::hash;
  if (!both || mine.tables() % there.tables() != 0) return {};
  return ", or run `easyretry split --store … --to " + std::to_string(mine.tables()) + "`";
}

// Settings that all instances of one database share. The first instance stores them; one that is configured differently
// is refused, with a message that says what to do. Throws StoreError.
class Agreement {
 public:
  Agreement(Session& session, const ServerOptions& options) : session_(session), options_(options) {}

  void on_shards() {
    const std::string there = session_.schema().agree("total_shards", std::to_string(options_.total_shards));
    if (const auto why = shard_refusal(parse_shard_count(there), options_.total_shards)) refuse(*why);
  }

  // While tables are being split, an instance may have the layout before or the one after.
  void on_layout(Tables& tables) {
    const std::string mine = storage::to_text(options_.layout);
    const std::string there = session_.schema().agree("layout", mine);
    const Placement placement = parse_placement(there, options_.total_shards, options_.window);
    const bool before = placement.before && placement.before->layout() == options_.layout;
    const Layout& layout = placement.router.layout();
    if (!before && layout != options_.layout) {
      refuse(differs("layout", storage::to_text(layout), mine) + split_hint(layout, options_.layout));
    }
    tables.learn(there);
  }

  void on_table_days() {
    const std::string mine = std::to_string(options_.window / std::chrono::days{1});
    const std::string there = session_.schema().agree("table_days", mine);
    if (there != mine) refuse(differs("table_days", there, mine));
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw StoreError{{Errc::invalid_argument, options_.kind + ".open", why}};
  }

  Session& session_;
  const ServerOptions& options_;
};

// Newest months first: old tasks are rarely requested.
std::vector<TaskRecord> find_finished(Session& session, Tables& tables, std::set<TaskId> wanted) {
  std::vector<TaskRecord> found;
  if (wanted.empty()) return found;
  for (const std::string& table : tables.histories(session)) {
    const std::vector<TaskId> ids{wanted.begin(), wanted.end()};
    for (TaskRecord& record : session.find(table, true, ids)) {
      wanted.erase(record.info.id);
      found.push_back(std::move(record));
    }
    if (wanted.empty()) break;
  }
  return found;
}

std::vector<Search> searches_for(Session& session, Tables& tables, const TaskQuery& query) {
  std::vector<Search> searches;
  if (query.finished) {
    for (const std::string& table : tables.histories(session)) {
      if (overlaps(*month_of_history_table(table), query.finished_at)) searches.push_back({query, table, true});
    }
  } else {
    tables.look_again(session);
    for (const TableId table : tables.tasks(session)) {
      searches.push_back({query, tables.router().name(table), false});
    }
  }
  return searches;
}

}  // namespace

void ServerStore::set_up() {
  const auto session = queries_.take();
  check_schema(session->schema(), options_);
  Agreement agreement{*session, options_};
  agreement.on_shards();
  agreement.on_layout(tables_);
  if (options_.layout.kind() == Layout::Kind::period) agreement.on_table_days();
  if (tables_.several()) session->schema().create_keys();
  tables_.ensure_tasks(now(*session));
  // These add columns that tables of an earlier release lack, or throw.
  tables_.tasks(*session);
  tables_.histories(*session);
  identity_ = session->schema().agree("identity", new_identity());
  info_ = {.url = options_.url,
           .total_shards = options_.total_shards,
           .earlier_shards =
               parse_earlier_shards(session->schema().meta("earlier_shards").value_or(""), options_.total_shards),
           .durability = session->schema().durability(),
           .shared = true,
           .inbox = true,
           .folds = true,
           .reads_run_ahead = session->schema().reads_run_ahead(),
           .missing = session->schema().missing()};
}

// Live tasks first: a task that ends meanwhile is then found in history.
Result<std::vector<TaskRecord>> ServerStore::find(std::span<const TaskId> ids) {
  return read("find", [&](Session& session) {
    std::set<TaskId> wanted{ids.begin(), ids.end()};
    if (wanted.empty()) return std::vector<TaskRecord>{};
    const TimePoint time = tables_.several() ? now(session) : TimePoint{};
    auto found = LiveRows{session, tables_, time}.find(std::vector<TaskId>{wanted.begin(), wanted.end()});
    for (const TaskRecord& record : found) wanted.erase(record.info.id);
    std::ranges::move(find_finished(session, tables_, std::move(wanted)), std::back_inserter(found));
    return found;
  });
}

Result<std::vector<TaskRecord>> ServerStore::list(const TaskQuery& query) {
  return read("list", [&](Session& session) {
    std::vector<TaskRecord> records;
    if (query.limit == 0) return records;
    for (const Search& search : searches_for(session, tables_, query)) {
      std::ranges::move(session.page(search), std::back_inserter(records));
    }
    // A task that was moved to a younger table meanwhile was found in both.
    ListWalk{query}.cut_to_page(records);
    return records;
  });
}

// The primary key tells where the next thousands of rows of each table end. The server looks only at these, and sends
// only matches. A key or a business id is found by its index.
Result<ListPage> ServerStore::scan(const TaskQuery& query) {
  const std::size_t most = 10 * query.limit;  // rows of a table
  const bool by_index = !query.key.empty() || !query.business_id.empty();
  return read("scan", [&](Session& session) {
    ListPage slice;
    const ListWalk walk{query};
    std::vector<Search> searches = searches_for(session, tables_, query);
    for (const Search& search : by_index ? std::span<const Search>{} : std::span<const Search>{searches}) {
      const Reach reach = session.reach(search, most);
      slice.scanned += reach.rows;
      const bool has_more = static_cast<std::size_t>(reach.rows) == most;
      if (has_more && (!slice.next || walk.precedes(reach.last, *slice.next))) slice.next = reach.last;
    }
    for (Search& search : searches) {
      search.searched = true;
      if (slice.next) search.within = walk.up_to(*slice.next);
      std::ranges::move(session.page(search), std::back_inserter(slice.records));
    }
    walk.cut_to_page(slice.records);
    const bool full = slice.records.size() >= query.limit;
    if (full) slice.next = slice.records.back().info.id;
    if (full || by_index) slice.scanned = static_cast<std::int64_t>(slice.records.size());
    return slice;
  });
}

Result<std::int64_t> ServerStore::count(const TaskQuery& query) {
  return read("count", [&](Session& session) {
    std::int64_t total = 0;
    for (const Search& search : searches_for(session, tables_, query)) total += session.count(search);
    return total;
  });
}

Result<Counts> ServerStore::counts(std::string_view name_space) {
  return read("counts", [&](Session& session) {
    Sums sums;
    session.ledger().read_counts(name_space, sums);
    return counts_of(sums, name_space);
  });
}

// Looks first: an idle store has nothing to fold. If a power cut undoes this, the sums are still there.
Result<bool> ServerStore::fold_counts() {
  auto any = read("fold_counts", [](Session& session) { return session.ledger().has_sums(); });
  if (!any || !*any) return any;
  return query_writes_.run(where("fold_counts"), Promise::unneeded, Locks::polled,
                           [](Session& session, TimePoint) { return fold_sums(session); });
}

Result<BeatReply> ServerStore::beat(const Beat& beat) {
  return control_reads_.run(where("beat"), [&](Session& session) { return session.ledger().beat(beat, given_time()); });
}

Result<BeatReply> ServerStore::members(std::string_view name_space) {
  return read("members", [&](Session& session) {
    const TimePoint at = now(session);
    return BeatReply{at, session.ledger().members(name_space, at)};
  });
}

Result<bool> ServerStore::leave(std::string_view name_space, std::string_view node) {
  return control_writes_.run(where("leave"), Promise::unneeded, Locks::polled,
                             [&](Session& session, TimePoint) { return session.ledger().leave(name_space, node); });
}

Result<bool> ServerStore::pause(std::string_view name_space, std::string_view handler, std::string_view why) {
  if (auto error = refuse_pause(name_space, handler, why, where("pause")))
    return tl::make_unexpected(*std::move(error));
  return query_writes_
      .run(where("pause"), Promise::kept, Locks::polled,
           [&](Session& session, TimePoint now) {
             return session.ledger().pause(name_space, {std::string{handler}, now, std::string{why}});
           })
      .and_then([&](PauseOutcome outcome) { return answer_of(outcome, where("pause")); });
}

Result<bool> ServerStore::resume(std::string_view name_space, std::string_view handler) {
  return query_writes_.run(where("resume"), Promise::kept, Locks::polled,
                           [&](Session& session, TimePoint) { return session.ledger().resume(name_space, handler); });
}

// Does not use the connections for searches, which may take long: claims wait for this.
Result<PausedReply> ServerStore::paused(std::string_view name_space) {
  return data_reads_.run(where("paused"),
                         [&](Session& session) { return session.ledger().paused(name_space, given_time()); });
}

Result<bool> ServerStore::save_series(std::string_view name_space, const SeriesPart& part) {
  return query_writes_.run(where("save_series"), Promise::unneeded, Locks::polled, [&](Session& session, TimePoint) {
    session.ledger().save_series(name_space, part);
    return true;
  });
}

Result<std::vector<SeriesPart>> ServerStore::saved_series(std::string_view name_space) {
  return read("saved_series", [&](Session& session) { return session.ledger().saved_series(name_space); });
}

Result<std::vector<TableInfo>> ServerStore::tables() {
  return read("tables", [&](Session& session) { return tables_.described(session, now(session)); });
}

Result<std::vector<SplitMove>> ServerStore::split(const SplitRequest& request) {
  try {
    Splitter splitter{queries_, tables_, query_reads_, query_writes_, where("split")};
    auto plan = splitter.plan(Layout::hash(request.tables));
    if (!request.only_plan) splitter.run(request);
    return plan;
  } catch (const std::invalid_argument& error) {
    return fail(Errc::invalid_argument, where("split"), error.what());
  } catch (const Refusal& refusal) {
    return tl::make_unexpected(refusal.error);
  } catch (const ServerError& error) {
    return tl::make_unexpected(to_error(error, where("split"), Point::before_commit));
  }
}

Result<KeepReport> ServerStore::keep() {
  try {
    const TimePoint time = now(*queries_.take());
    return Housekeeping{queries_, tables_, query_writes_, options_.keep_months}.keep(time, where("keep"));
  } catch (const ServerError& error) {
    return tl::make_unexpected(to_error(error, where("keep"), Point::before_commit));
  }
}

Result<bool> ServerStore::expire(std::span<const Retention> rules) {
  if (rules.empty()) return false;
  return read("expire", [&](Session& session) { return now(session); }).and_then([&](TimePoint time) {
    return RetentionSweep{tables_, query_reads_, query_writes_, where("expire")}.run(rules, time);
  });
}

// If the server refuses a whole batch, its rows are taken one by one, and only the row that the server refuses is
// refused.
Result<IntakeReply> ServerStore::take_in(const IntakeQuery& query, const Convert& convert) {
  auto reply = take_in_once(query, convert);
  const auto not_taken = [&] { return !reply && reply.error().code == Errc::invalid_argument; };
  if (!not_taken()) return reply;
  const IntakeQuery one{query.name_space, query.handlers, 1};
  std::int64_t tried = 0;
  reply = take_in_once(one, [&](InboxRow row) {
    tried = row.id;
    return convert(std::move(row));
  });
  if (!not_taken()) return reply;
  return take_in_once(one, [&, why = reply.error().detail](InboxRow row) -> tl::expected<NewTask, std::string> {
    if (row.id == tried) return tl::make_unexpected(why);
    return convert(std::move(row));
  });
}

// Looks first: most often there is nothing, and a transaction would take three round trips.
Result<IntakeReply> ServerStore::take_in_once(const IntakeQuery& query, const Convert& convert) {
  auto looked = read("take_in", [&](Session& session) {
    IntakeReply nothing{.now = now(session)};
    nothing.more = !query.handlers.empty() && !session.ledger().inbox({query.name_space, query.handlers, 1}).empty();
    return nothing;
  });
  if (!looked || !looked->more) return looked;
  return query_writes_.run(where("take_in"), Promise::kept, Locks::polled,
                           [&](Session& session, TimePoint now) { return take_in(session, query, convert, now); });
}

// Inside one transaction.
IntakeReply ServerStore::take_in(Session& session, const IntakeQuery& query, const Convert& convert, TimePoint now) {
  IntakeReply reply{.now = now};
  std::vector<std::int64_t> taken;
  std::vector<InboxRow> rows = session.ledger().inbox(query);
  reply.more = rows.size() == query.limit;
  for (InboxRow& row : rows) {
    const std::int64_t id = row.id;
    auto task = convert(std::move(row));
    if (task) {
      taken.push_back(id);
      reply.tasks.push_back(*std::move(task));
    } else {
      session.ledger().refuse_inbox(id, task.error(), now);
      reply.refused.push_back(task.error());
    }
  }
  if (taken.empty()) return reply;
  reply.inserted = insert_transactions_.inside(session, server::pointers(reply.tasks), now).tasks;
  session.ledger().clear_inbox(taken);
  return reply;
}

void ServerStore::announce(const std::string& name_space) {
  if (options_.notifier) options_.notifier->announce(name_space);
}

std::unique_ptr<Subscription> ServerStore::listen(const std::string& name_space, std::function<void()> wake) {
  return options_.notifier ? options_.notifier->listen(name_space, std::move(wake)) : nullptr;
}

}  // namespace easyretry::storage::sql
