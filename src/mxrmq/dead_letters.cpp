#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

#include "base/time_text.h"
#include "mxrmq/import_target.h"
#include "mxrmq/operations.h"

namespace easyretry::mxrmq {
namespace {

constexpr Millis kEditLease = std::chrono::minutes{5};
constexpr TimePoint kNever{std::chrono::sys_days{std::chrono::year{9999} / 12 / 31}};
constexpr std::string_view kToken = "import-";  // prefix of the tokens of imports

struct Letter {
  std::string id;
  bool before = false;  // an earlier import had taken it
  std::string json;
};

// The error includes the time of death, because the store only knows when it was moved.
std::string final_error_of(const Meta& meta) {
  std::string error = meta.last_error.value_or("no error");
  if (!meta.dead_letter_at) return error + " (dead letter)";
  return error + " (dead letter since " + base::to_text(TimePoint{Millis{*meta.dead_letter_at}}) + ")";
}

class DeadLetterMover {
 public:
  DeadLetterMover(QueueConnection& link, ImportTarget& target, const std::string& token)
      : link_(link), target_(target), token_(token) {}

  // Returns false if there are no more.
  bool move_some(MovedLetters& sum) {
    const Reply reply = link_.run(scripts::letters, "", {std::to_string(sum.left), std::to_string(kMessagesACall)});
    if (reply.integer(0) == 0) return false;
    const std::vector<Letter> letters = letters_in(reply);
    begin();
    for (const Letter& letter : letters) look_at(letter);
    store();
    end();
    const std::int64_t moved = drop(letters);
    sum.moved += moved;
    sum.left += static_cast<std::int64_t>(letters.size()) - moved;
    return true;
  }

 private:
  static std::vector<Letter> letters_in(const Reply& reply) {
    std::vector<Letter> letters;
    for (std::size_t i = 1; i + 2 < reply.size(); i += 3) {
      letters.push_back({std::string{reply.text(i)}, reply.text(i + 1) == "1", std::string{reply.text(i + 2)}});
    }
    return letters;
  }

  void begin() {
    tasks_.clear();
    errors_.clear();
    ends_.clear();
    kept_.clear();
  }

  void look_at(const Letter& letter) {
    try {
      const Message message = parse_message(letter.json);
      if (letter.before && is_there(letter, message)) return;
      task::NewTask task = target_.task_of(letter.id, message);
      task.attempts = std::max(task.attempts, 1) - 1;  // storing it counts as the last attempt
      task.owner = token_;
      task.lease = kEditLease;
      task.due_at = kNever;
      tasks_.push_back(std::move(task));
      errors_.push_back(final_error_of(message.meta));
    } catch (const MessageError&) {
      kept_.insert(letter.id);
    }
  }

  // True if it is in the store: ended, or stored and about to be ended.
  bool is_there(const Letter& letter, const Message& message) {
    if (target_.ended(letter.id)) return true;
    const auto live = target_.live(letter.id);
    if (!live || live->info.next_at != kNever || !live->locked_by.starts_with(kToken)) return false;
    will_end({live->info.id, live->info.version}, final_error_of(message.meta));
    return true;
  }

  void will_end(const task::Ticket& ticket, const std::string& error) {
    task::Settlement end;
    end.ticket = ticket;
    end.outcome = Outcome::exhausted;
    end.error = error;
    ends_.push_back(std::move(end));
  }

  void store() {
    if (tasks_.empty()) return;
    const std::vector<storage::Inserted> stored = target_.insert(tasks_);
    for (std::size_t i = 0; i < stored.size(); ++i) {
      if (stored[i].created) {
        will_end({stored[i].id, stored[i].version}, errors_[i]);
      } else {
        kept_.insert(tasks_[i].key);
      }
    }
  }

  void end() {
    if (ends_.empty()) return;
    target_.settle(ends_);
    std::vector<TaskId> ids;
    for (const task::Settlement& end : ends_) ids.push_back(end.ticket.id);
    if (target_.count_found(ids) == ids.size()) return;
    throw StoreError{{Errc::invalid_argument, "mxrmq.import",
                      "the store keeps no history (history=none), so dead letters would be lost in it: they "
                      "stay in the queue"}};
  }

  std::int64_t drop(const std::vector<Letter>& letters) {
    std::vector<std::string> arguments;
    for (const Letter& letter : letters) {
      arguments.push_back(letter.id);
      arguments.push_back(kept_.contains(letter.id) ? "" : letter.json);
    }
    const Reply reply = link_.run(scripts::drop_letters, "", arguments);
    std::int64_t dropped = 0;
    for (std::size_t i = 0; i < reply.size(); ++i) dropped += reply.integer(i);
    return dropped;
  }

  QueueConnection& link_;
  ImportTarget& target_;
  const std::string& token_;
  // For the letters of this round
  std::vector<task::NewTask> tasks_;
  std::vector<std::string> errors_;  // one for each of tasks_
  std::vector<task::Settlement> ends_;
  std::set<std::string> kept_;  // ids that stay in the queue
};

}  // namespace

MovedLetters move_dead_letters(QueueConnection& link, ImportTarget& target, const std::string& token,
                               const std::function<void(std::int64_t moved)>& progress) {
  DeadLetterMover mover{link, target, token};
  MovedLetters sum;
  while (mover.move_some(sum)) progress(sum.moved);
  return sum;
}

}  // namespace easyretry::mxrmq
