#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "storage/retention.h"
#include "storage/sqlite/writer.h"

namespace easyretry::storage::sqlite {

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
