#pragma once
// What submissions that have a name (Idempotency-Key) were answered. Whoever sends one again, because the answer was
// lost, gets the same answer, and nothing is stored for it. In memory, for a few minutes. Thread-safe.

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
    std::string token;  // nobody is given the answers of others
    std::string key;
    auto operator<=>(const Name&) const = default;
  };
  struct Limits {
    Millis age = std::chrono::minutes{5};
    std::size_t names = 50'000;   // some 200 bytes each
    std::size_t tasks = 500'000;  // 32 bytes each
  };
  enum class Seen {
    never,      // to be done now by whoever asks; then answered() or forget() is called
    before,     // `done` gets the answer, now or as soon as there is one
    different,  // the name was given to something else
  };

  RememberedAnswers(const Clock& clock, Limits limits);

  Seen ask(const Name& name, std::string_view body, Done done);
  // Calls all who have asked. That nothing was done for now is not remembered.
  void answered(const Name& name, const Answer& answer);
  // Whoever asked first takes it back; others who wait are told to try again.
  void forget(const Name& name);
  // What was answered in this time up to now is remembered.
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
  std::deque<Entries::iterator> answered_;  // the oldest first
  std::size_t tasks_ = 0;                   // of these
  Instant complete_since_;
};

}  // namespace easyretry::server
