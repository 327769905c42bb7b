// How the levels of a handler's policy are put together: defaults of the file, code, the handler's entry in the file.

#include <algorithm>
#include <stdexcept>

#include <easyretry/config.h>

namespace easyretry {
namespace {

template <class T>
void replace(std::optional<T>& value, const std::optional<T>& given) {
  if (given) value = given;
}

bool contains(const std::vector<ExceptionType>& types, const ExceptionType& wanted) {
  return std::ranges::any_of(types, [&](const ExceptionType& type) { return type.matches == wanted.matches; });
}

void add_new(std::vector<ExceptionType>& types, const std::vector<ExceptionType>& more) {
  for (const ExceptionType& type : more) {
    if (!contains(types, type)) types.push_back(type);
  }
}

// Lists add up. A type that the upper level wants retried leaves the list of the lower one that forbids it. The other
// way around nothing is removed: never_retry wins anyway, and an empty retry_on would mean everything.
void add_types(Policy& lower, const Policy& upper) {
  std::erase_if(lower.never_retry, [&](const ExceptionType& type) { return contains(upper.retry_on, type); });
  add_new(lower.retry_on, upper.retry_on);
  add_new(lower.never_retry, upper.never_retry);
}

// `upper`, with the fields of `lower` that it leaves open.
Policy layered(Policy lower, const Policy& upper) {
  replace(lower.backoff, upper.backoff);
  replace(lower.stop.max_attempts, upper.stop.max_attempts);
  replace(lower.stop.max_duration, upper.stop.max_duration);
  replace(lower.stop.deadline, upper.stop.deadline);
  add_types(lower, upper);
  if (!upper.success_when.empty()) lower.success_when = upper.success_when;
  return lower;
}

// Empties `inherited` for an empty list.
std::vector<ExceptionType> found(const std::optional<std::vector<WrittenName>>& written, const ExceptionNames& names,
                                 std::vector<ExceptionType>& inherited, std::vector<std::string>& problems) {
  std::vector<ExceptionType> types;
  if (!written) return types;
  if (written->empty()) inherited.clear();
  for (const WrittenName& one : *written) {
    try {
      types.push_back(names.find(one.name));
    } catch (const std::invalid_argument& error) {
      problems.push_back((one.where.empty() ? "" : one.where + ": ") + error.what());
    }
  }
  return types;
}

}  // namespace

Policy patched(Policy policy, const PolicyPatch& patch, const ExceptionNames& names) {
  std::vector<std::string> problems;
  Policy upper{.backoff = patch.backoff, .stop = {patch.max_attempts, patch.max_duration, patch.deadline}};
  upper.retry_on = found(patch.retry_on, names, policy.retry_on, problems);
  upper.never_retry = found(patch.never_retry, names, policy.never_retry, problems);
  if (!problems.empty()) throw ConfigError(std::move(problems));
  Policy both = layered(std::move(policy), upper);
  // A condition in code stays.
  if (patch.success_when) both.success_when = both.success_when.with_expression(*patch.success_when);
  return both;
}

Policy policy_of(const Config& config, const std::string& handler, const Policy& registered,
                 const ExceptionNames& names) {
  Policy policy = layered(patched({}, config.defaults.policy, names), registered);
  const auto own = config.handlers.find(handler);
  return own == config.handlers.end() ? policy : patched(std::move(policy), own->second.policy, names);
}

}  // namespace easyretry
