#pragma once
// Results of submissions with an Idempotency-Key. A client that repeats one, because the response was lost, gets the
// same result, and nothing is stored again. In memory, for a few minutes. Thread-safe.

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/store.h"

namespace easyretry::server {

class RememberedAnswers {
 public:
  using Answer = Result<std::vector<storage::Inserted>>;
  using Done = std::function<void(Answer)>;

  struct Name {
    std::string token;  // keys of different tokens are independent
    std::string key;
    auto operator<=>(const Name&) const = default;
  };
  struct Limits {
    Millis age = std::chrono::minutes{5};
    std::size_t names = 50'000;   // about 200 bytes each
    std::size_t tasks = 500'000;  // 32 bytes each
  };
  enum class Seen {
    never,      // the caller stores the tasks now, then calls answered() or forget()
    before,     // `done` gets the result, now or as soon as it is known
    different,  // the key was used for another body
  };

  RememberedAnswers(const Clock& clock, Limits limits);

  Seen ask(const Name& name, std::string_view body, Done done);
  // Calls `done` of all requests. `unavailable` is not remembered: a repetition may succeed.
  void answered(const Name& name, const Answer& answer);
  // The first request was refused; others that wait for it get `unavailable`.
  void forget(const Name& name);
  // The daemon remembers all results of this last period.
  Millis reach() const;

 private:
  struct Entry {
    std::size_t body = 0;  // a hash
    std::vector<Done> waiting{};
    std::optional<Answer> answer{};
    Instant answered_at{};
    std::size_t tasks() const { return answer && *answer ? (*answer)->size() : 0; }
  };
  using Entries = std::map<Name, Entry>;

  void trim(Instant now);

  const Clock& clock_;
  const Limits limits_;
  mutable std::mutex mutex_;
  // Guarded by mutex_
  Entries entries_;
  std::deque<Entries::iterator> answered_;  // oldest first
  std::size_t tasks_ = 0;                   // of these
  Instant complete_since_;
};

}  // namespace easyretry::server
