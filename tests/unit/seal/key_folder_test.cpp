// Keys as files in a folder.

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <easyretry/encryption.h>

#include "support/refusal.h"
#include "support/temp_folder.h"
#include "unit/seal/keys.h"

namespace easyretry {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct KeyFolderTest : testing::Test {
  test::TempFolder folder;

  void write(const std::string& name, const std::string& text) const {
    const auto file = folder.path() / name;
    std::ofstream{file} << text;
    std::filesystem::permissions(file, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  KeyFolder from(std::string current = {}, std::string identity = {}) const {
    return {.folder = folder.path(), .current = std::move(current), .identity_key = std::move(identity)};
  }
  static std::string refusal(const KeyFolder& from) {
    return test::refusal<std::invalid_argument>([&] { read_keys(from); });
  }
};

TEST_F(KeyFolderTest, OneKeyNeedsNoFurtherSettings) {
  write("2026-11.key", test::kHexA);
  write("README", "not a key");
  const Encryption encryption = read_keys(from());
  ASSERT_EQ(encryption.keys.size(), 1U);
  EXPECT_EQ(encryption.keys.front().id(), "2026-11");
  EXPECT_EQ(encryption.current, "2026-11");
}

TEST_F(KeyFolderTest, SeveralKeysNeedCurrentAndIdentityKey) {
  write("b.key", test::kHexA);
  write("a.key", test::kHexB);
  EXPECT_THAT(refusal(from()), HasSubstr("`current`"));
  EXPECT_THAT(refusal(from("a")), HasSubstr("`identity_key`"));
  EXPECT_THAT(refusal(from("a", "c")), HasSubstr("\"c\""));
  const Encryption encryption = read_keys(from("a", "b"));
  EXPECT_EQ(encryption.current, "a");
  EXPECT_EQ(encryption.identity_key, "b");
}

TEST_F(KeyFolderTest, WithoutKeysItSaysHowToMakeOne) {
  EXPECT_THAT(refusal(from()), AllOf(HasSubstr("openssl rand -hex 32"), HasSubstr(folder.path().string())));
  EXPECT_THAT(refusal({.folder = folder.path() / "nowhere"}), HasSubstr("cannot be read"));
}

TEST_F(KeyFolderTest, NoFolderIsNoEncryptionUnlessOneIsAskedFor) {
  EXPECT_FALSE(read_keys({}).enabled());
  EXPECT_THAT(refusal({.require = true}), Not("accepted"));
  EXPECT_THAT(refusal({.current = "2026-11"}), Not("accepted"));
}

TEST_F(KeyFolderTest, AFileThatOthersMayReadIsRefused) {
  write("a.key", test::kHexA);
  std::filesystem::permissions(folder.path() / "a.key", std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(refusal(from()), AllOf(HasSubstr("a.key"), Not(HasSubstr(test::kHexA))));
}

}  // namespace
}  // namespace easyretry
