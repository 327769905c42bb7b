#pragma once
// Exception types by name, for `retry_on` and `never_retry` in a configuration file. C++ cannot find a type by its
// name, so an application says which there are:
//
//   const ExceptionNames names{type<bank::TimeoutError>(), type<bank::CardRefused>()};
//   names.find("CardRefused");     // or "bank::CardRefused", or "std::runtime_error": the standard ones are known

#include <initializer_list>
#include <string_view>
#include <vector>

#include <easyretry/policy.h>

namespace easyretry {

class ExceptionNames {
 public:
  // With those of the standard library and easyretry::StoreError.
  ExceptionNames();
  ExceptionNames(std::initializer_list<ExceptionType> types);

  // A name that is there already now means this type. Throws std::invalid_argument for a type without name or matcher.
  void add(ExceptionType type);

  // By its whole name, or without some or all of its namespaces where only one type is called so. Throws
  // std::invalid_argument with the types that were probably meant and those that are known.
  const ExceptionType& find(std::string_view name) const;

 private:
  std::vector<ExceptionType> types_;
};

}  // namespace easyretry
