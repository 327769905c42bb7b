#pragma once
// The verbs of a store, each ready to be called on a task of its own, and what they have done as the database has it.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/store.h"

namespace easyretry::cuts {

struct Answer {
  std::optional<Error> error;
  bool changed = false;
};

template <class T, class E, class Changed>
Answer answer_of(const tl::expected<T, E>& reply, Changed changed) {
  if (!reply) return {Error{reply.error()}};
  return {std::nullopt, changed(*reply)};
}

template <class T, class E>
Answer answer_of(const tl::expected<T, E>& reply) {
  return answer_of(reply, [](const T&) { return true; });
}

struct Verb {
  enum class Kind {
    reads,     // never in doubt
    changes,   // may say after a repetition that it has changed nothing
    compares,  // a compare-and-set: says exactly whether it has changed something
  };
  std::string name;
  Kind kind;
  std::function<Answer(storage::Store&)> call;
  std::function<void()> prepare{};
  // How often the change was made, as this store has it. Null: it cannot be seen
  std::function<int(storage::Store&)> made{};
  std::function<void()> hinder{};  // right before the call that may fail
};

// What an answer says is so. `made`: 0 if that cannot be seen.
void expect_true(const Verb& verb, const Answer& answer, int made);

class Verbs {
 public:
  static constexpr auto kOfTheInbox = "of the inbox";  // a handler

  // `plain` returns a store that does not fail, for preparing and looking. `fill_inbox` puts a call of kOfTheInbox into
  // the inbox, if there is one.
  explicit Verbs(
      std::function<storage::Store&()> plain, std::function<void()> fill_inbox = [] {});
  Verbs(const Verbs&) = delete;
  Verbs& operator=(const Verbs&) = delete;

  std::vector<Verb> all();

  // The key of the next task, or the name of whatever else is changed.
  void begin(std::string key) { key_ = std::move(key); }
  const std::string& key() const { return key_; }
  Answer insert(storage::Store& store) const;
  void store_it();
  int live(storage::Store& in) const;

 private:
  std::vector<Verb> life_of_a_task();
  std::vector<Verb> ends_of_a_task();
  std::vector<Verb> reads();
  std::vector<Verb> members_and_pauses();
  std::vector<Verb> upkeep();
  std::vector<Verb> announcements();

  void claim_it();
  void end_it();
  int ended(storage::Store& in) const;
  storage::TaskRecord look(storage::Store& in) const;
  int is_member(storage::Store& in) const;
  int is_saved(storage::Store& in) const;
  storage::Beat beat() const;

  const std::function<storage::Store&()> plain_;
  const std::function<void()> fill_inbox_;
  std::string key_;
  storage::Ticket ticket_;
};

}  // namespace easyretry::cuts
