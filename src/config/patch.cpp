#include <stdexcept>

#include <easyretry/config.h>

namespace easyretry {
namespace {

template <class T>
void replace(T& value, const std::optional<T>& given) {
  if (given) value = *given;
}

void replace(std::vector<ExceptionType>& types, const std::optional<std::vector<WrittenName>>& given,
             const ExceptionNames& names, std::vector<std::string>& problems) {
  if (!given) return;
  types.clear();
  for (const WrittenName& written : *given) {
    try {
      types.push_back(names.find(written.name));
    } catch (const std::invalid_argument& error) {
      problems.push_back((written.where.empty() ? "" : written.where + ": ") + error.what());
    }
  }
}

}  // namespace

Policy patched(Policy policy, const PolicyPatch& patch, const ExceptionNames& names) {
  std::vector<std::string> problems;
  replace(policy.backoff, patch.backoff);
  replace(policy.stop.max_attempts, patch.max_attempts);
  replace(policy.stop.max_duration, patch.max_duration);
  if (patch.deadline) policy.stop.deadline = patch.deadline;
  replace(policy.retry_on, patch.retry_on, names, problems);
  replace(policy.never_retry, patch.never_retry, names, problems);
  // A condition in code stays.
  if (patch.success_when) policy.success_when = policy.success_when.with_expression(*patch.success_when);
  if (!problems.empty()) throw ConfigError(std::move(problems));
  return policy;
}

Policy policy_of(const Config& config, const std::string& handler, const std::optional<Policy>& registered,
                 const ExceptionNames& names) {
  Policy policy = registered ? *registered : patched({}, config.defaults.policy, names);
  const auto own = config.handlers.find(handler);
  return own == config.handlers.end() ? policy : patched(std::move(policy), own->second.policy, names);
}

}  // namespace easyretry
