#include <algorithm>
#include <any>
#include <filesystem>
#include <functional>
#include <future>
#include <ios>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <typeinfo>
#include <variant>

#include <easyretry/config.h>
#include <easyretry/error.h>
#include <easyretry/policy.h>

#include "base/nearest.h"

namespace easyretry {
namespace {

// The compiler puts versions into some names ("std::filesystem::__cxx11::filesystem_error"); people do not write them.
template <class E>
ExceptionType called(std::string_view name) {
  return {name, type<E>().matches};
}

// In a function: an application's static ExceptionNames may be initialised before the constants of this file.
const std::vector<ExceptionType>& standard_types() {
  static const std::vector<ExceptionType> types{
      type<std::exception>(),
      type<std::bad_alloc>(),
      type<std::bad_any_cast>(),
      type<std::bad_cast>(),
      type<std::bad_function_call>(),
      type<std::bad_optional_access>(),
      type<std::bad_variant_access>(),
      type<std::domain_error>(),
      called<std::filesystem::filesystem_error>("std::filesystem::filesystem_error"),
      type<std::future_error>(),
      type<std::invalid_argument>(),
      called<std::ios_base::failure>("std::ios_base::failure"),
      type<std::length_error>(),
      type<std::logic_error>(),
      type<std::out_of_range>(),
      type<std::overflow_error>(),
      type<std::range_error>(),
      type<std::runtime_error>(),
      type<std::system_error>(),
      type<std::underflow_error>(),
      type<StoreError>(),
  };
  return types;
}

std::string_view last_part(std::string_view name) {
  const auto colons = name.rfind("::");
  return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

bool ends_in(std::string_view whole, std::string_view name) {
  if (!whole.ends_with(name) || name.empty()) return false;
  const std::string_view before = whole.substr(0, whole.size() - name.size());
  return before.empty() || before.ends_with("::");
}

std::string listed(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

std::vector<std::string_view> names_of(const std::vector<ExceptionType>& types) {
  std::vector<std::string_view> names;
  names.reserve(types.size());
  for (const ExceptionType& type : types) names.push_back(type.name);
  return names;
}

// A similar full name, or, for a name without namespaces, a similar last part.
std::optional<std::string_view> probably_meant(std::string_view name, const std::vector<std::string_view>& known) {
  if (const auto whole = base::nearest(name, known)) return whole;
  std::vector<std::string_view> last_parts;
  last_parts.reserve(known.size());
  for (const std::string_view candidate : known) last_parts.push_back(last_part(candidate));
  const auto part = base::nearest(last_part(name), last_parts);
  if (!part) return std::nullopt;
  return known[static_cast<std::size_t>(std::find(last_parts.begin(), last_parts.end(), *part) - last_parts.begin())];
}

[[noreturn]] void refuse(std::string_view name, const std::string& why) {
  throw std::invalid_argument("exception type \"" + std::string{name} + "\" " + why);
}

[[noreturn]] void refuse_unknown(std::string_view name, const std::vector<std::string_view>& known) {
  const auto meant = probably_meant(name, known);
  refuse(name, "is not known" + (meant ? ", did you mean " + std::string{*meant} + "?" : "; ") +
                   (meant ? " Known are " : "known are ") + listed(known) +
                   "; the application can add others with ExceptionNames");
}

}  // namespace

ExceptionNames::ExceptionNames() : types_(standard_types()) {}

ExceptionNames::ExceptionNames(std::initializer_list<ExceptionType> types) : ExceptionNames() {
  for (const ExceptionType& type : types) add(type);
}

void ExceptionNames::add(ExceptionType type) {
  if (type.name.empty() || type.matches == nullptr) {
    throw std::invalid_argument("an exception type needs a name and a matcher; make it with easyretry::type<E>()");
  }
  std::erase_if(types_, [&](const ExceptionType& known) { return known.name == type.name; });
  types_.push_back(type);
}

const ExceptionType& ExceptionNames::find(std::string_view name) const {
  const ExceptionType* found = nullptr;
  std::vector<std::string_view> candidates;
  for (const ExceptionType& type : types_) {
    if (type.name == name) return type;
    if (!ends_in(type.name, name)) continue;
    found = &type;
    candidates.push_back(type.name);
  }
  if (candidates.size() == 1) return *found;
  if (candidates.empty()) refuse_unknown(name, names_of(types_));
  refuse(name, "is ambiguous: it may be " + listed(candidates) + "; write the full name");
}

namespace detail {

// `matches` looks at deeper nested exceptions by calling this again.
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
// A type's own name may contain brackets and semicolons, hence the search for the outermost ones.
std::string_view type_name_in(std::string_view function_signature) {
  constexpr std::string_view kBegin = "E = ";
  const std::size_t begin = function_signature.find(kBegin);
  if (begin == std::string_view::npos) return function_signature;
  const std::string_view rest = function_signature.substr(begin + kBegin.size());
  return rest.substr(0, std::min(rest.rfind("; std::string_view = "), rest.rfind(']')));
}

}  // namespace detail

// never_retry wins, even if it names a base class and retry_on a derived one: one attempt too few can be repaired
// manually, one payment too many cannot. No exception means that success_when was false, which is worth a retry.
bool worth_retrying(const Policy& policy, const std::exception_ptr& thrown) {
  if (thrown == nullptr) return true;
  const auto matches = [&](const ExceptionType& type) { return type.matches(thrown); };
  if (std::any_of(policy.never_retry.begin(), policy.never_retry.end(), matches)) return false;
  return policy.retry_on.empty() || std::any_of(policy.retry_on.begin(), policy.retry_on.end(), matches);
}

}  // namespace easyretry
