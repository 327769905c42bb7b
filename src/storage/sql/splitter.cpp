#include "storage/sql/splitter.h"

#include <map>
#include <stdexcept>

namespace easyretry::storage::sql {
namespace {

constexpr std::size_t kRowsASplit = 500;

}  // namespace

// The layout that is being split, even if the split has begun before.
Layout Splitter::from(const Layout& to) const {
  const Placement placement = tables_.placement();
  if (!placement.before) return placement.router.layout();
  if (placement.router.layout() != to) {
    throw std::invalid_argument("a split into " + storage::to_text(placement.router.layout()) +
                                " has begun; finish that one first");
  }
  return placement.before->layout();
}

bool Splitter::is_done(const Layout& to) const {
  const Placement placement = tables_.placement();
  return !placement.before && placement.router.layout() == to;
}

std::vector<TableFacts> Splitter::look() {
  auto facts = reads_.run(where_, [&](Session& session) {
    tables_.look_again(session);
    return session.schema().table_facts();
  });
  if (!facts) throw Refusal{facts.error()};
  return *std::move(facts);
}

std::vector<SplitMove> Splitter::plan(const Layout& to) {
  const std::vector<TableFacts> tables = look();
  if (is_done(to)) return {};
  const TableRouter router{to, tables_.router().total_shards()};
  std::map<std::string, std::int64_t> rows;
  for (const TableFacts& facts : tables) rows[facts.name] = facts.rows;
  std::vector<SplitMove> plan;
  for (const TableMove& move : split(from(to), to, router.total_shards())) {
    const std::string name = router.name(move.from);
    const auto parts = to.tables() / from(to).tables();
    plan.push_back({name, router.name(move.to), rows[name] / parts});
  }
  return plan;
}

void Splitter::run(const SplitRequest& request) {
  const Layout to = Layout::hash(request.tables);
  look();
  if (is_done(to)) return;
  const int total_shards = tables_.router().total_shards();
  split(from(to), to, total_shards);  // throws before anything is changed
  const Placement splitting = begin(to);
  for (const TableMove& one : split(splitting.before->layout(), to, total_shards)) {
    move(one, splitting.router, request);
  }
  const Placement done{splitting.router};
  pool_.take()->schema().change_meta("layout", to_text(splitting), to_text(done));
  tables_.look_again(*pool_.take());
}

// Other threads may learn the new layout first, so the current one counts.
Placement Splitter::begin(const Layout& to) {
  const Placement placement = tables_.placement();
  if (placement.before && placement.router.layout() == to) return placement;
  const TableRouter router{to, placement.router.total_shards()};
  for (const TableId table : router.all_tables({})) tables_.ensure(router.name(table));
  const Placement splitting{router, placement.router};
  const auto session = pool_.take();
  if (session->schema().meta("total_shards") != std::to_string(router.total_shards())) {
    throw std::invalid_argument("the number of shards is being changed; finish that with `easyretry reshard` first");
  }
  session->schema().change_meta("layout", to_text(placement), to_text(splitting));
  tables_.look_again(*session);
  if (to_text(tables_.placement()) != to_text(splitting)) {
    throw ServerError{Trouble::again, "another process has just changed the layout"};
  }
  return splitting;
}

void Splitter::move(const TableMove& move, const TableRouter& router, const SplitRequest& request) {
  SplitMove done{router.name(move.from), router.name(move.to), 0};
  for (TaskId after{};;) {
    if (request.stop.stop_requested())
      throw ServerError{Trouble::again, "it was interrupted; start it again to continue"};
    const auto moved = writes_.run(where_, Promise::kept, Locks::waited_for, [&](Session& session, TimePoint) {
      return session.schema().move({done.from, done.to, kRowsASplit, move.shards, after});
    });
    if (!moved) throw ServerError{Trouble::again, moved.error().detail};
    after = moved->last;
    done.rows += static_cast<std::int64_t>(moved->rows);
    request.progress(done);
    if (moved->rows < kRowsASplit) return;
  }
}

}  // namespace easyretry::storage::sql
