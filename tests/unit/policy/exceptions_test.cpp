#include <stdexcept>

#include <gtest/gtest.h>

#include <easyretry/policy.h>

namespace shop {

struct NetworkError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct TimeoutError : NetworkError {
  using NetworkError::NetworkError;
};
struct BusinessError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
template <class T>
struct Wrong {};

}  // namespace shop

namespace easyretry {
namespace {

using shop::BusinessError;
using shop::NetworkError;
using shop::TimeoutError;

template <class E>
std::exception_ptr thrown(E error) {
  return std::make_exception_ptr(std::move(error));
}

// `inner` as the cause of `outer`, as std::throw_with_nested leaves it.
template <class E>
std::exception_ptr caused(E outer, const std::exception_ptr& inner) {
  try {
    try {
      std::rethrow_exception(inner);
    } catch (...) {
      std::throw_with_nested(std::move(outer));
    }
  } catch (...) {
    return std::current_exception();
  }
}

TEST(ExceptionType, MatchesItselfAndDerivedTypes) {
  EXPECT_TRUE(type<NetworkError>().matches(thrown(NetworkError{"x"})));
  EXPECT_TRUE(type<NetworkError>().matches(thrown(TimeoutError{"x"})));
  EXPECT_FALSE(type<TimeoutError>().matches(thrown(NetworkError{"x"})));
  EXPECT_FALSE(type<NetworkError>().matches(thrown(42)));
  EXPECT_TRUE(type<int>().matches(thrown(42)));
}

TEST(ExceptionType, MatchesNestedExceptionsAtAnyDepth) {
  auto error = caused(std::logic_error{"b"}, caused(std::runtime_error{"a"}, thrown(TimeoutError{"root"})));
  EXPECT_TRUE(type<TimeoutError>().matches(error));
  EXPECT_TRUE(type<NetworkError>().matches(error));
  EXPECT_TRUE(type<std::logic_error>().matches(error));
  EXPECT_FALSE(type<BusinessError>().matches(error));
  for (int i = 0; i < 500; ++i) error = caused(std::logic_error{"again"}, error);
  EXPECT_TRUE(type<TimeoutError>().matches(error));
}

TEST(ExceptionType, SurvivesANestedExceptionThatHoldsNothing) {
  struct Bare : std::nested_exception {};
  EXPECT_FALSE(type<TimeoutError>().matches(thrown(Bare{})));
}

TEST(ExceptionType, KnowsItsName) {
  EXPECT_EQ(type<TimeoutError>().name, "shop::TimeoutError");
  EXPECT_EQ(type<shop::Wrong<int[3]>>().name, "shop::Wrong<int [3]>");
}

TEST(ExceptionType, FindsTheNameInTheSignaturesOfBothCompilers) {
  EXPECT_EQ(detail::type_name_in("std::string_view f() [with E = a::B<int [3]>; std::string_view = std::basic<char>]"),
            "a::B<int [3]>");
  EXPECT_EQ(detail::type_name_in("std::string_view f() [E = a::B<int[3]>]"), "a::B<int[3]>");
  EXPECT_EQ(detail::type_name_in("something else"), "something else");
}

TEST(WorthRetrying, IsEverythingByDefault) {
  EXPECT_TRUE(worth_retrying({}, thrown(BusinessError{"x"})));
  EXPECT_TRUE(worth_retrying({}, thrown(42)));
}

TEST(WorthRetrying, IsWhatRetryOnNames) {
  const Policy policy{.retry_on = {type<NetworkError>(), type<int>()}};
  EXPECT_TRUE(worth_retrying(policy, thrown(TimeoutError{"x"})));
  EXPECT_TRUE(worth_retrying(policy, thrown(42)));
  EXPECT_TRUE(worth_retrying(policy, caused(BusinessError{"x"}, thrown(TimeoutError{"x"}))));
  EXPECT_FALSE(worth_retrying(policy, thrown(BusinessError{"x"})));
}

TEST(WorthRetrying, IsNotWhatNeverRetryNames) {
  const Policy policy{.never_retry = {type<BusinessError>()}};
  EXPECT_TRUE(worth_retrying(policy, thrown(NetworkError{"x"})));
  EXPECT_FALSE(worth_retrying(policy, thrown(BusinessError{"x"})));
  EXPECT_FALSE(worth_retrying(policy, caused(NetworkError{"x"}, thrown(BusinessError{"x"}))));
}

TEST(WorthRetrying, NeverWinsEvenAgainstAMoreSpecificRetry) {
  const Policy policy{.retry_on = {type<TimeoutError>()}, .never_retry = {type<NetworkError>()}};
  EXPECT_FALSE(worth_retrying(policy, thrown(TimeoutError{"x"})));
}

TEST(WorthRetrying, IsAFailureWithoutAnException) {
  const Policy policy{.retry_on = {type<TimeoutError>()}, .never_retry = {type<BusinessError>()}};
  EXPECT_TRUE(worth_retrying(policy, nullptr)) << "success_when said no";
}

}  // namespace
}  // namespace easyretry
