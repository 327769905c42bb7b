#include "storage/checks.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/utf8.h"

namespace easyretry::storage {
namespace {

std::string_view missing_field(const NewTask& task) {
  if (task.name_space.empty()) return "namespace";
  if (task.key.empty()) return "key";
  if (task.handler.empty()) return "handler";
  return {};
}

bool rejects(const NewTask& task) {
  return task.on_duplicate == OnDuplicate::reject;
}

std::optional<Error> refuse_twins(std::span<const NewTask> tasks, std::string_view where) {
  if (std::none_of(tasks.begin(), tasks.end(), rejects)) return std::nullopt;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const NewTask& task : tasks) {
    if (!seen.emplace(task.name_space, task.key).second && rejects(task)) {
      return Error{Errc::already_exists, std::string{where}, "the key \"" + task.key + "\" is in the batch twice"};
    }
  }
  return std::nullopt;
}

bool is_text(std::string_view text) {
  return base::invalid_utf8(text) == std::string_view::npos && text.find('\0') == std::string_view::npos;
}

}  // namespace

// Counts the bytes that begin one.
std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xc0) != 0x80; }));
}

std::optional<Error> refuse_batch(std::span<const NewTask> tasks, std::string_view where) {
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (const auto field = missing_field(tasks[i]); !field.empty()) {
      return Error{Errc::invalid_argument, std::string{where},
                   "task " + std::to_string(i) + " of the batch has an empty " + std::string{field}};
    }
  }
  return refuse_twins(tasks, where);
}

Error duplicate(std::string_view where, std::string_view key, TaskId there) {
  return {Errc::already_exists, std::string{where},
          "task " + to_string(there) + " is live under the key \"" + std::string{key} + "\""};
}

InsertFailure failure(Error error, const InsertReply& unsent) {
  InsertFailure failure{std::move(error)};
  if (failure.code != Errc::in_doubt) return failure;
  failure.ids.reserve(unsent.tasks.size());
  for (const Inserted& task : unsent.tasks) failure.ids.push_back(task.created ? task.id : TaskId{});
  return failure;
}

std::optional<Error> refuse_pause(std::string_view name_space, std::string_view handler, std::string_view why,
                                  std::string_view where) {
  const auto refused = [&](const std::string& because) {
    return Error{Errc::invalid_argument, std::string{where}, because};
  };
  if (name_space.empty()) return refused("the namespace is empty");
  if (handler.empty() || handler.size() > kLongestHandlerName) {
    return refused("a handler's name has 1 to " + std::to_string(kLongestHandlerName) + " bytes, such as payment.pay");
  }
  if (!is_text(handler)) return refused("a handler's name is UTF-8 text without NUL");
  if (!is_text(why)) return refused("the reason is not UTF-8 text without NUL");
  if (characters(why) > kLongestReason) {
    return refused("the reason has " + std::to_string(characters(why)) + " characters; " +
                   std::to_string(kLongestReason) + " are allowed at most");
  }
  return std::nullopt;
}

Result<bool> answer_of(PauseOutcome outcome, std::string_view where) {
  if (outcome != PauseOutcome::too_many) return outcome == PauseOutcome::paused;
  return fail(
      Errc::invalid_argument, where,
      std::to_string(kMostPaused) + " handlers of this namespace are paused, which is the maximum; resume some first");
}

}  // namespace easyretry::storage
