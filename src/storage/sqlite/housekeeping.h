#pragma once
// Store::keep() and Store::expire().

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/retention.h"
#include "storage/sqlite/writer.h"
#include "storage/store.h"

namespace easyretry::storage::sqlite {

// `keep`: drops results that were kept long enough, and months of history that are old enough, after the lookup entries
// of their tasks.
//
// The lookup is swept from end to end in its own order, and then the old table is emptied (dropping one of a million
// rows takes 0.2 s, or far longer from a cold disk). Both take some thousand rows a transaction: a claim waits for one
// of those at most. As long as the table is there, the work is not done; interrupted, it starts over and finds less to
// do. Safe to call from any thread.
class Housekeeping {
 public:
  Housekeeping(Writer& writer, int keep_months) : writer_(writer), keep_months_(keep_months) {}
  Result<KeepReport> keep();

 private:
  // An entry of the lookup; the default is before all of them.
  struct Place {
    std::int64_t part = -1, hash = 0, id = 0;
  };
  struct Swept {
    std::optional<Place> until;  // nullopt: done, the old months are dropped
    std::vector<KeepStep> dropped;
  };
  Swept sweep(Session& session, TimePoint now) const;
  static std::optional<Place> sweep_some(Connection& db, const Place& from, Period oldest,
                                         const std::vector<std::string>& kept);
  static std::vector<KeepStep> drop(Session& session, Period oldest);
  static bool drop_results(Connection& db, TimePoint now);
  static bool shorten(Connection& db, Period oldest);
  static std::optional<Place> place_after(Connection& db, const Place& from, std::int64_t entries);

  Writer& writer_;
  const int keep_months_;
  std::mutex mutex_;  // guards everything below
  Place place_;       // where the sweep continues
};

// `expire`: walks the ended tasks of one handler after the other, found as a search by handler and end finds them. They
// take turns with claims: a transaction removes a thousand, and a call is over in a fraction of a second. Interrupted,
// a walk starts over, and finds less to do. Safe to call from any thread.
class RetentionSweep {
 public:
  explicit RetentionSweep(Writer& writer) : writer_(writer) {}
  // Returns whether there is more.
  Result<bool> run(std::span<const Retention> rules);

 private:
  // Where a walk of one handler continues.
  struct Place {
    Walk walk;
    std::string month{};  // the table
    TaskId after{};
  };
  struct Step {
    std::optional<Place> place{};  // nullopt: the walk is done
    bool more = true;
  };
  Step step(Session& session, std::span<const Retention> rules, TimePoint now) const;
  std::optional<Place> place_in(const std::vector<Walk>& wanted) const;
  static std::optional<Place> remove_some(Session& session, const Place& from);

  Writer& writer_;
  std::mutex mutex_;            // guards everything below
  std::optional<Place> place_;  // nullopt: no walk has begun
};

}  // namespace easyretry::storage::sqlite
