#include "storage/open.h"

#include <filesystem>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/testing.h>

#include "storage/history.h"
#include "support/refusal.h"
#include "unit/storage/sqlite/support.h"

namespace easyretry::storage {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class OpenStore : public ::testing::Test {
 protected:
  std::string url(const std::string& options = {}) const {
    return "sqlite:" + (folder_.path() / "retry.db").string() + options;
  }
  template <class Call>
  static std::string said_by(const Call& call) {
    return test::refusal<std::invalid_argument>(call);
  }
  // validate_store_url says the same.
  std::string refusal(const std::string& url) {
    std::string refused = said_by([&] { open_store(url, clock); });
    EXPECT_EQ(said_by([&] { validate_store_url(url); }), refused);
    return refused;
  }

  testing::ManualClock clock;

 private:
  sqlite::Folder folder_;
};

TEST_F(OpenStore, KnowsMemoryAndSqlite) {
  EXPECT_THAT(open_store("memory:", clock)->info().url, HasSubstr("memory"));
  EXPECT_EQ(open_store(url(), clock)->info().url, url());
}

TEST_F(OpenStore, OptionsReachTheStore) {
  EXPECT_EQ(open_store("memory:?shards=8&history=none", clock)->info().total_shards, 8);
  const auto store = open_store(url("?synchronous=normal&history=failures&keep_months=12&shards=16"), clock);
  EXPECT_EQ(store->info().total_shards, 16);
  EXPECT_THAT(store->info().durability.words, HasSubstr("power cut"));
}

TEST_F(OpenStore, WhetherInstancesCanShareItIsKnownByTheUrl) {
  for (const std::string& one : {std::string{"memory:"}, url(), url("?shared=yes")}) {
    EXPECT_EQ(may_be_shared(one), open_store(one, clock)->info().shared) << one;
  }
  EXPECT_TRUE(may_be_shared("postgres://db/retry"));
  EXPECT_TRUE(may_be_shared("redis://cache:6379/0"));
}

TEST_F(OpenStore, AUrlIsLookedAtWithoutOpeningAnything) {
  EXPECT_NO_THROW(validate_store_url(url()));
  EXPECT_FALSE(std::filesystem::exists(url().substr(std::string{"sqlite:"}.size())));
  EXPECT_NO_THROW(validate_store_url("postgres://nobody.invalid/retry?layout=hash(16)"));
  EXPECT_THAT(said_by([] { validate_store_url("mysql://nobody.invalid/retry?layout=hash(12)"); }),
              HasSubstr("does not divide 64 shards"));
}

TEST_F(OpenStore, AnUnknownSchemeIsNamedWithTheKnownOnes) {
  EXPECT_THAT(refusal("sqlit:x.db"),
              AllOf(HasSubstr("\"sqlit\""), HasSubstr("memory, sqlite"), HasSubstr("did you mean \"sqlite\"?")));
  EXPECT_THAT(refusal("oracle:x"), AllOf(HasSubstr("\"oracle\""), HasSubstr("memory, sqlite")));
}

TEST_F(OpenStore, AnUnknownOptionIsNamedWithTheKnownOnes) {
  EXPECT_THAT(refusal(url("?sync=full")),
              AllOf(HasSubstr("\"sync\""), HasSubstr("synchronous, history, keep_months, shards, shared")));
  EXPECT_THAT(refusal(url("?keep_month=3")), HasSubstr("did you mean \"keep_months\"?"));
  EXPECT_THAT(refusal("memory:?keep_months=3"), HasSubstr("history, shards"));
}

TEST_F(OpenStore, ABadValueIsNamedWithValidOnes) {
  EXPECT_THAT(refusal(url("?synchronous=ful")), AllOf(HasSubstr("\"ful\""), HasSubstr("did you mean \"full\"?")));
  EXPECT_THAT(refusal(url("?history=failure")),
              AllOf(HasSubstr("none, failures, all"), HasSubstr("did you mean \"failures\"?")));
  for (const auto* number : {"0", "4097", "x", "16x", "-1", "99999999999"}) {
    EXPECT_THAT(refusal(url("?shards=") + number), AllOf(HasSubstr("1 to 4096"), HasSubstr(number)));
  }
  EXPECT_THAT(refusal(url("?keep_months=0")), HasSubstr("from 1"));
}

TEST_F(OpenStore, ASqliteStoreNeedsAPath) {
  EXPECT_THAT(refusal("sqlite:"), HasSubstr("sqlite:retry.db"));
  EXPECT_THAT(refusal("sqlite://retry.db"), HasSubstr("did you mean sqlite:retry.db?"));
}

TEST_F(OpenStore, AMemoryStoreHasNone) {
  EXPECT_THAT(refusal("memory:retry.db"), HasSubstr("no path"));
}

TEST_F(OpenStore, AFileThatCannotBeOpenedIsAStoreError) {
  EXPECT_THROW(open_store("sqlite:/missing-folder/retry.db", clock), StoreError);
}

}  // namespace
}  // namespace easyretry::storage
