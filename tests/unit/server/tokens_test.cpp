#include "server/tokens.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temp_folder.h"

namespace easyretry::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

struct TokensTest : ::testing::Test {
  test::TempFolder folder;
  std::filesystem::path file = folder.path() / "tokens";
};

TEST_F(TokensTest, ATokenIsFoundByItsSecretAndByNothingElse) {
  const std::string secret = new_secret();
  Tokens{file}.add({"ops", "operator", "shop", hash_of(secret)});
  Tokens tokens{file};
  EXPECT_EQ(tokens.find(secret)->name, "ops");
  EXPECT_FALSE(tokens.find(hash_of(secret)));
  EXPECT_FALSE(tokens.find(""));
}

TEST_F(TokensTest, TheFileIsItsOwnersAloneAndHasNoSecret) {
  const std::string secret = new_secret();
  Tokens{file}.add({"ops", "operator", "shop", hash_of(secret)});
  struct stat found {};
  ASSERT_EQ(::stat(file.c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  std::ifstream in{file};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  EXPECT_EQ(text.find(secret.substr(3)), std::string::npos);
}

TEST_F(TokensTest, ChangesByAnotherProcessAreSeen) {
  Tokens here{file};
  Tokens there{file};
  const std::string secret = new_secret();
  there.add({"ops", "operator", "shop", hash_of(secret)});
  EXPECT_TRUE(here.find(secret));
  EXPECT_TRUE(there.remove("ops"));
  EXPECT_FALSE(here.find(secret));
}

TEST_F(TokensTest, AFileThatCannotBeReadIsNotOneWithoutTokens) {
  std::filesystem::create_directory(file);
  EXPECT_THAT([&] { Tokens{file}; },
              ThrowsMessage<std::runtime_error>(AllOf(HasSubstr("cannot read the tokens in"), HasSubstr("directory"))));
  std::filesystem::remove(file);
  std::filesystem::create_symlink("gone", file);
  EXPECT_THAT([&] { Tokens{file}; }, ThrowsMessage<std::runtime_error>(HasSubstr("No such file")));
  EXPECT_TRUE(std::filesystem::is_symlink(file)) << "nothing was written";
}

TEST_F(TokensTest, SecretsAreLongAndDiffer) {
  EXPECT_THAT(new_secret(), StartsWith("er_"));
  EXPECT_EQ(new_secret().size(), 3U + 64U);
  EXPECT_NE(new_secret(), new_secret());
}

TEST_F(TokensTest, AMalformedTokenIsRefusedWithItsLine) {
  std::ofstream{file} << "# fine\n\nops emperor shop " << std::string(64, 'a') << "\n";
  EXPECT_THAT([&] { Tokens{file}; }, ThrowsMessage<std::runtime_error>(HasSubstr("tokens:3: not a token")));
}

TEST_F(TokensTest, ANameThatIsNotUtf8IsNeitherReadNorWritten) {
  EXPECT_THROW(Tokens{file}.add({"\xff", "viewer", "shop", std::string(64, 'a')}), std::invalid_argument);
  std::ofstream{file} << "\xff viewer shop " << std::string(64, 'a') << "\n";
  EXPECT_THAT([&] { Tokens{file}; }, ThrowsMessage<std::runtime_error>(HasSubstr("tokens:1: not a token")));
}

TEST_F(TokensTest, ANameIsTakenOnceAndARoleMustBeOne) {
  Tokens tokens{file};
  tokens.add({"ops", "viewer", "*", std::string(64, 'a')});
  EXPECT_THAT(
      [&] {
        tokens.add({"ops", "viewer", "*", std::string(64, 'b')});
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("a token named ops already exists")));
  EXPECT_THAT(
      [&] {
        tokens.add({"two", "emperor", "*", std::string(64, 'b')});
      },
      ThrowsMessage<std::invalid_argument>(HasSubstr("is not a role; use viewer")));
  EXPECT_THROW(tokens.add({"two words", "viewer", "*", std::string(64, 'b')}), std::invalid_argument);
}

}  // namespace
}  // namespace easyretry::server
