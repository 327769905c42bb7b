#pragma once
// Exception types by name, for `retry_on` and `never_retry` in a configuration file. C++ cannot look up a type by its
// name, so the application registers them:
//
//   const ExceptionNames names{type<bank::TimeoutError>(), type<bank::CardRefused>()};
//   names.find("CardRefused");     // or "bank::CardRefused", or "std::runtime_error": standard types are built in

#include <initializer_list>
#include <string_view>
#include <vector>

#include <easyretry/policy.h>

namespace easyretry {

class ExceptionNames {
 public:
  // Contains the exceptions of the standard library and easyretry::StoreError.
  ExceptionNames();
  ExceptionNames(std::initializer_list<ExceptionType> types);

  // Replaces a type with the same name. Throws std::invalid_argument if the type has no name or no matcher.
  void add(ExceptionType type);

  // Finds a type by its full name, or by a name with some or all namespaces left out if only one type matches.
  // Otherwise throws std::invalid_argument, with similar names and all known ones.
  const ExceptionType& find(std::string_view name) const;

 private:
  std::vector<ExceptionType> types_;
};

}  // namespace easyretry
