#include <algorithm>

#include <easyretry/policy.h>

namespace easyretry {

namespace detail {

// `matches` looks into what is nested deeper by coming back here.
bool matches_nested(const std::exception_ptr& thrown, bool (*matches)(const std::exception_ptr&)) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::nested_exception& outer) {
    return outer.nested_ptr() != nullptr && matches(outer.nested_ptr());
  } catch (...) {
    return false;
  }
}

// g++:   "std::string_view easyretry::detail::signature_with_type() [with E = Timeout; std::string_view = …]"
// clang: "std::string_view easyretry::detail::signature_with_type() [E = Timeout]"
// A type's own name may hold brackets and semicolons, hence the search for the outermost marks.
std::string_view type_name_in(std::string_view function_signature) {
  constexpr std::string_view kBegin = "E = ";
  const std::size_t begin = function_signature.find(kBegin);
  if (begin == std::string_view::npos) return function_signature;
  const std::string_view rest = function_signature.substr(begin + kBegin.size());
  return rest.substr(0, std::min(rest.rfind("; std::string_view = "), rest.rfind(']')));
}

}  // namespace detail

// never_retry wins, also where it names a base and retry_on something derived from it: an attempt too few can be made
// good by hand, a payment too many cannot. No exception at all means that success_when said no, and that is what
// retries are for.
bool worth_retrying(const Policy& policy, const std::exception_ptr& thrown) {
  if (thrown == nullptr) return true;
  const auto matches = [&](const ExceptionType& type) { return type.matches(thrown); };
  if (std::any_of(policy.never_retry.begin(), policy.never_retry.end(), matches)) return false;
  return policy.retry_on.empty() || std::any_of(policy.retry_on.begin(), policy.retry_on.end(), matches);
}

}  // namespace easyretry
