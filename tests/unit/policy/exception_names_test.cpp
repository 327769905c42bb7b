#include <filesystem>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/config.h>
#include <easyretry/error.h>

#include "support/refusal.h"

namespace bank {
struct Timeout : std::runtime_error {
  using std::runtime_error::runtime_error;
};
namespace v2 {
struct Refused {};
}  // namespace v2
}  // namespace bank

namespace post {
struct Timeout {};
}  // namespace post

namespace easyretry {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

std::string name_refusal(const ExceptionNames& names, std::string_view name) {
  return test::refusal<std::invalid_argument>([&] { names.find(name); });
}

template <class E>
bool finds(const ExceptionNames& names, std::string_view name) {
  return names.find(name).matches == type<E>().matches;
}

TEST(ExceptionNames, KnowTheStandardOnesFromTheStart) {
  const ExceptionNames names;
  EXPECT_TRUE(finds<std::exception>(names, "std::exception"));
  EXPECT_TRUE(finds<std::invalid_argument>(names, "std::invalid_argument"));
  EXPECT_TRUE(finds<std::system_error>(names, "system_error"));
  EXPECT_TRUE(finds<StoreError>(names, "easyretry::StoreError"));
}

TEST(ExceptionNames, LeaveOutTheVersionsACompilerPutsIntoNames) {
  const ExceptionNames names;
  EXPECT_TRUE(finds<std::filesystem::filesystem_error>(names, "std::filesystem::filesystem_error"));
  EXPECT_TRUE(finds<std::ios_base::failure>(names, "std::ios_base::failure"));
}

TEST(ExceptionNames, TakeANameWithOrWithoutItsNamespaces) {
  const ExceptionNames names{type<bank::v2::Refused>()};
  for (const char* name : {"bank::v2::Refused", "v2::Refused", "Refused"}) {
    EXPECT_TRUE(finds<bank::v2::Refused>(names, name)) << name;
  }
  for (const char* name : {"", "fused", "::Refused", "2::Refused", "bank::Refused", "refused"}) {
    EXPECT_THAT(name_refusal(names, name), HasSubstr("is not known")) << name;
  }
}

TEST(ExceptionNames, AskForTheWholeNameWhereAShortOneFitsTwoTypes) {
  const ExceptionNames names{type<bank::Timeout>(), type<post::Timeout>()};
  EXPECT_EQ(name_refusal(names, "Timeout"),
            "exception type \"Timeout\" is ambiguous: it may be bank::Timeout, post::Timeout; write the full name");
  EXPECT_TRUE(finds<post::Timeout>(names, "post::Timeout"));
}

TEST(ExceptionNames, AWholeNameIsNeverAmbiguous) {
  const ExceptionNames names{{"Timeout", type<bank::Timeout>().matches}, type<post::Timeout>()};
  EXPECT_TRUE(finds<bank::Timeout>(names, "Timeout"));
}

TEST(ExceptionNames, SuggestTheLikelyName) {
  const ExceptionNames names{type<bank::Timeout>()};
  EXPECT_THAT(name_refusal(names, "bank::Timeuot"), AllOf(HasSubstr("\"bank::Timeuot\" is not known, did you mean "
                                                                    "bank::Timeout? Known are std::exception, "),
                                                          EndsWith("; the application can add others with "
                                                                   "ExceptionNames")));
  EXPECT_THAT(name_refusal(names, "TimeOut"), HasSubstr("did you mean bank::Timeout?"));
  EXPECT_THAT(name_refusal(names, "std::invalid_arg"), HasSubstr("did you mean std::invalid_argument?"));
  EXPECT_THAT(name_refusal(names, "java.io.IOException"),
              AllOf(HasSubstr("is not known; known are std::exception"), Not(HasSubstr("did you mean"))));
}

TEST(ExceptionNames, AddingATypeAgainIsNoSecondOne) {
  ExceptionNames names{type<bank::Timeout>()};
  names.add(type<bank::Timeout>());
  EXPECT_TRUE(finds<bank::Timeout>(names, "Timeout"));
}

TEST(ExceptionNames, RefuseATypeThatCouldNeverBeFoundOrMatched) {
  ExceptionNames names;
  EXPECT_THROW(names.add({"", type<bank::Timeout>().matches}), std::invalid_argument);
  EXPECT_THROW(names.add({"bank::Timeout", nullptr}), std::invalid_argument);
}

}  // namespace
}  // namespace easyretry
