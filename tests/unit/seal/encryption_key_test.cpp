#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <ostream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <easyretry/encryption.h>

#include "support/refusal.h"
#include "support/temp_folder.h"
#include "unit/seal/keys.h"

namespace easyretry {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using test::refusal;

std::string hex_refusal(const std::string& id, const std::string& hex) {
  return refusal([&] { EncryptionKey::from_hex(id, hex); });
}

std::string base64_refusal(const std::string& text) {
  return refusal([&] { EncryptionKey::from_base64("k", text); });
}

bool same(const EncryptionKey& a, const EncryptionKey& b) {
  return std::ranges::equal(a.secret(), b.secret());
}

TEST(EncryptionKey, IsTheSameFromHexAndBase64) {
  const auto key = EncryptionKey::from_hex("2026-11", test::kHexA);
  EXPECT_EQ(key.id(), "2026-11");
  for (unsigned char i = 0; i < 32; ++i) EXPECT_EQ(key.secret()[i], i);
  EXPECT_TRUE(same(key, EncryptionKey::from_base64("k", test::kBase64A)));
  std::string upper = test::kHexA;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) { return c >= 'a' ? char(c - 32) : c; });
  EXPECT_TRUE(same(key, EncryptionKey::from_hex("k", upper)));
}

TEST(EncryptionKey, RefusesASecretOfTheWrongLength) {
  EXPECT_THAT(hex_refusal("2026-11", test::kHexA.substr(2)),
              AllOf(HasSubstr("\"2026-11\""), HasSubstr("62 characters"), HasSubstr("openssl rand -hex 32")));
  EXPECT_THAT(hex_refusal("k", test::kHexA + "00"), HasSubstr("66 characters"));
  EXPECT_THAT(hex_refusal("k", ""), HasSubstr("0 characters"));
  EXPECT_THAT(base64_refusal("AAECAwQFBgcICQoLDA0ODw=="), HasSubstr("16 bytes instead of 32"));
  EXPECT_THAT(base64_refusal(test::kHexA), HasSubstr("48 bytes instead of 32"));
  EXPECT_THAT(base64_refusal(""), HasSubstr("0 bytes"));
}

TEST(EncryptionKey, RefusesInvalidHexAndBase64WithoutRepeatingThem) {
  std::string hex = test::kHexA;
  hex[63] = 'g';
  EXPECT_THAT(hex_refusal("k", hex), AllOf(HasSubstr("not hex digits"), Not(HasSubstr("0102"))));
  EXPECT_THAT(base64_refusal("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9="), HasSubstr("not base64"))
      << "leftover bits";
  EXPECT_THAT(base64_refusal(" " + test::kBase64A), HasSubstr("not base64"));
  EXPECT_THAT(base64_refusal("A=ECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="), HasSubstr("not base64"));
}

TEST(EncryptionKey, RefusesAPlaceholder) {
  EXPECT_THAT(hex_refusal("k", std::string(64, '0')), HasSubstr("the same byte 32 times"));
  EXPECT_THAT(base64_refusal("QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE="), HasSubstr("the same byte 32 times"));
}

TEST(EncryptionKey, RefusesAStrangeIdAndShowsItSafely) {
  EXPECT_EQ(hex_refusal("Az09._-", test::kHexA), "accepted");
  EXPECT_EQ(hex_refusal(std::string(64, 'x'), test::kHexA), "accepted");
  EXPECT_THAT(hex_refusal("", test::kHexA), HasSubstr("1 to 64 letters"));
  EXPECT_THAT(hex_refusal(std::string(65, 'x'), test::kHexA), HasSubstr("xxx…\""));
  EXPECT_THAT(hex_refusal("a\"b\n\x1b[31m", test::kHexA), HasSubstr("\"a?b???31m\""));
  EXPECT_THAT(hex_refusal("schlüssel", test::kHexA), HasSubstr("1 to 64 letters"));
}

template <class T>
concept Printable = requires(std::ostream& out, const T& value) {
  out << value;
};
static_assert(!Printable<EncryptionKey>);

TEST(EncryptionKey, IsWipedOnDestruction) {
  alignas(EncryptionKey) std::array<unsigned char, sizeof(EncryptionKey)> place{};
  auto* const key = std::construct_at(reinterpret_cast<EncryptionKey*>(place.data()), test::key_a());
  const std::array<unsigned char, 4> part{4, 5, 6, 7};
  ASSERT_FALSE(std::ranges::search(place, part).empty());
  std::destroy_at(key);
  EXPECT_TRUE(std::ranges::search(place, part).empty());
}

class KeyFiles : public testing::Test {
 protected:
  std::filesystem::path file(const std::string& content, mode_t mode = 0600) {
    const auto path = folder_.path() / "key";
    std::ofstream{path, std::ios::binary} << content;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  static std::string file_refusal(const std::filesystem::path& path) {
    return refusal([&] { EncryptionKey::from_file("2026-11", path); });
  }
  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  test::TempFolder folder_;
};

TEST_F(KeyFiles, HoldHexOrBase64WithOrWithoutALineEnd) {
  for (const auto& content : {test::kHexA, test::kHexA + "\n", " \r\n" + test::kHexA + "\r\n", test::kBase64A + "\n"}) {
    EXPECT_TRUE(same(EncryptionKey::from_file("k", file(content)), test::key_a())) << content.size();
  }
}

TEST_F(KeyFiles, AreRefusedWithTheirNameAndTheReason) {
  EXPECT_THAT(file_refusal(folder() / "none"),
              AllOf(HasSubstr("key file " + folder().string() + "/none"), HasSubstr("No such file")));
  EXPECT_THAT(file_refusal(file("")), AllOf(HasSubstr("\"2026-11\""), HasSubstr("0 bytes")));
  EXPECT_THAT(file_refusal(file("0001\n")), HasSubstr("3 bytes instead of 32"));
  EXPECT_THAT(file_refusal(file(std::string(32, '\x80'))), HasSubstr("not base64")) << "raw bytes";
  EXPECT_THAT(file_refusal(file(std::string(5000, 'a'))), HasSubstr("too long"));
  EXPECT_THAT(file_refusal(folder()), HasSubstr("is not a file"));
}

TEST_F(KeyFiles, AreRefusedIfOthersCouldHaveReadOrChangedThem) {
  for (const mode_t mode : {0644, 0604, 0602, 0620, 0601}) {
    EXPECT_THAT(file_refusal(file(test::kHexA, mode)), HasSubstr("chmod 600")) << mode;
  }
  for (const mode_t mode : {0600, 0400, 0440, 0640})
    EXPECT_EQ(file_refusal(file(test::kHexA, mode)), "accepted") << mode;
}

TEST_F(KeyFiles, DoNotBlockIfTheyArePipes) {
  const auto pipe = folder() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(file_refusal(pipe), HasSubstr("is not a file"));
}

}  // namespace
}  // namespace easyretry
