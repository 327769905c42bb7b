#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

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

}  // namespace easyretry::storage::sqlite
