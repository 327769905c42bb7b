#include "storage/insert_checks.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace easyretry::storage {
namespace {

std::string_view missing_field(const NewTask& task) {
  if (task.space.empty()) return "space";
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
    if (!seen.emplace(task.space, task.key).second && rejects(task)) {
      return Error{Errc::already_exists, std::string{where}, "the key \"" + task.key + "\" is in the batch twice"};
    }
  }
  return std::nullopt;
}

}  // namespace

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

InsertFailure failure(Error error, const InsertReply& unsaid) {
  InsertFailure failure{std::move(error)};
  if (failure.code != Errc::in_doubt) return failure;
  failure.ids.reserve(unsaid.tasks.size());
  for (const Inserted& task : unsaid.tasks) failure.ids.push_back(task.created ? task.id : TaskId{});
  return failure;
}

}  // namespace easyretry::storage
