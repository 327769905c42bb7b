#include "storage/sql/splitting.h"

#include <map>
#include <stdexcept>

namespace easyretry::storage::sql {
namespace {

constexpr std::size_t kRowsAMove = 500;

}  // namespace

// The layout that is split, also where that has begun before.
Layout Splitting::from(const Layout& to) const {
  const Placement placement = tables_.placement();
  if (!placement.before) return placement.router.layout();
  if (placement.router.layout() != to) {
    throw std::invalid_argument("a split into " + storage::to_text(placement.router.layout()) +
                                " has begun; finish that one first");
  }
  return placement.before->layout();
}

std::vector<SplitMove> Splitting::plan(const Layout& to) {
  const auto session = pool_.take();
  tables_.look_again(*session);
  const TableRouter router{to, tables_.router().total_shards()};
  std::map<std::string, std::int64_t> rows;
  for (const TableFacts& facts : session->table_facts()) rows[facts.name] = facts.rows;
  std::vector<SplitMove> plan;
  for (const TableMove& move : split(from(to), to, router.total_shards())) {
    const std::string name = router.name(move.from);
    const auto parts = to.tables() / from(to).tables();
    plan.push_back({name, router.name(move.to), rows[name] / parts});
  }
  return plan;
}

void Splitting::run(const Layout& to, const std::function<void(const SplitMove&)>& progress) {
  tables_.look_again(*pool_.take());
  const std::vector<TableMove> moves = split(from(to), to, tables_.router().total_shards());
  const Placement splitting = begin(to);
  for (const TableMove& one : moves) move(one, splitting.router, progress);
  const Placement done{splitting.router};
  pool_.take()->change_meta("layout", to_text(splitting), to_text(done));
  tables_.look_again(*pool_.take());
}

Placement Splitting::begin(const Layout& to) {
  const Placement placement = tables_.placement();
  if (placement.before) return placement;
  const TableRouter router{to, placement.router.total_shards()};
  for (const TableId table : router.all_tables({})) tables_.ensure(router.name(table));
  const Placement splitting{router, placement.router};
  const auto session = pool_.take();
  if (session->meta("total_shards") != std::to_string(router.total_shards())) {
    throw std::invalid_argument("the number of shards is being changed; finish that with `easyretry reshard` first");
  }
  session->change_meta("layout", to_text(placement), to_text(splitting));
  if (!tables_.look_again(*session)) throw ServerError{Trouble::again, "somebody else changed the layout just now"};
  return tables_.placement();
}

void Splitting::move(const TableMove& move, const TableRouter& router,
                     const std::function<void(const SplitMove&)>& progress) {
  SplitMove done{router.name(move.from), router.name(move.to), 0};
  for (TaskId after{};;) {
    const auto moved = writes_.run(where_, Promise::kept, [&](Session& session, TimePoint) {
      return session.move({done.from, done.to, kRowsAMove, move.shards, after});
    });
    if (!moved) throw ServerError{Trouble::again, moved.error().detail};
    after = moved->last;
    done.rows += static_cast<std::int64_t>(moved->rows);
    progress(done);
    if (moved->rows < kRowsAMove) return;
  }
}

}  // namespace easyretry::storage::sql
