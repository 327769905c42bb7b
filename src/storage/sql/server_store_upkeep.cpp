// Everything beside the tasks: members, pauses, counts, tables, calls submitted by plain SQL, news.

#include "storage/checks.h"
#include "storage/sql/housekeeping.h"
#include "storage/sql/intake.h"
#include "storage/sql/server_store.h"
#include "storage/sql/splitter.h"

namespace easyretry::storage::sql {

// Looks first: an idle store has nothing to fold. A power cut may undo it: then the sums are there to be folded again.
Result<bool> ServerStore::fold_counts() {
  auto any = read("fold_counts", [](Session& session) { return session.ledger().has_sums(); });
  if (!any || !*any) return any;
  return operating_.run(where("fold_counts"), Promise::unneeded, Locks::polled,
                        [](Session& session, TimePoint) { return fold_sums(session); });
}

Result<BeatReply> ServerStore::beat(const Beat& beat) {
  return beating_.run(where("beat"), [&](Session& session) { return session.ledger().beat(beat, given_time()); });
}

Result<BeatReply> ServerStore::members(std::string_view space) {
  return read("members", [&](Session& session) {
    const TimePoint at = now(session);
    return BeatReply{at, session.ledger().members(space, at)};
  });
}

Result<bool> ServerStore::leave(std::string_view space, std::string_view node) {
  return controlling_.run(where("leave"), Promise::unneeded, Locks::polled,
                          [&](Session& session, TimePoint) { return session.ledger().leave(space, node); });
}

Result<bool> ServerStore::pause(std::string_view space, std::string_view handler, std::string_view why) {
  if (auto error = refuse_pause(space, handler, why, where("pause"))) return tl::make_unexpected(*std::move(error));
  return operating_
      .run(where("pause"), Promise::kept, Locks::polled,
           [&](Session& session, TimePoint now) {
             return session.ledger().pause(space, {std::string{handler}, now, std::string{why}});
           })
      .and_then([&](Pausing pausing) { return answer_of(pausing, where("pause")); });
}

Result<bool> ServerStore::resume(std::string_view space, std::string_view handler) {
  return operating_.run(where("resume"), Promise::kept, Locks::polled,
                        [&](Session& session, TimePoint) { return session.ledger().resume(space, handler); });
}

// Not on the connections for searches, which may take long: claims wait for this.
Result<PausedReply> ServerStore::paused(std::string_view space) {
  return loading_.run(where("paused"), [&](Session& session) { return session.ledger().paused(space, given_time()); });
}

Result<std::vector<TableInfo>> ServerStore::tables() {
  return read("tables", [&](Session& session) { return tables_.described(session, now(session)); });
}

Result<std::vector<SplitMove>> ServerStore::split(const SplitRequest& request) {
  try {
    Splitter splitter{queries_, tables_, reading_, operating_, where("split")};
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
    return Housekeeping{queries_, tables_, operating_, options_.keep_months}.keep(time, where("keep"));
  } catch (const ServerError& error) {
    return tl::make_unexpected(to_error(error, where("keep"), Point::before_commit));
  }
}

// If the server refuses a batch as tasks, its rows are taken one by one, and the one that the server refuses is
// refused.
Result<IntakeReply> ServerStore::take_in(const IntakeQuery& query, const Convert& convert) {
  auto reply = take_in_once(query, convert);
  const auto not_taken = [&] { return !reply && reply.error().code == Errc::invalid_argument; };
  if (!not_taken()) return reply;
  const IntakeQuery one{query.space, query.handlers, 1};
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
    nothing.more = !query.handlers.empty() && !session.ledger().inbox({query.space, query.handlers, 1}).empty();
    return nothing;
  });
  if (!looked || !looked->more) return looked;
  return operating_.run(where("take_in"), Promise::kept, Locks::polled, [&](Session& session, TimePoint now) {
    return sql::take_in(session, query, convert, now, [&](std::span<const NewTask* const> tasks) {
      return insert_transactions_.inside(session, tasks, now).tasks;
    });
  });
}

void ServerStore::announce(const std::string& space) {
  if (options_.news) options_.news->announce(space);
}

std::unique_ptr<Listening> ServerStore::listen(const std::string& space, std::function<void()> wake) {
  return options_.news ? options_.news->listen(space, std::move(wake)) : nullptr;
}

}  // namespace easyretry::storage::sql
