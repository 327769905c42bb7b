#include "webhook/signature.h"

#include <memory>
#include <ostream>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/refusal.h"

namespace easyretry::webhook {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The test vector of the specification's own libraries.
constexpr const char* kSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr std::chrono::sys_seconds kSent{std::chrono::seconds{1614265330}};
constexpr SignedMessage kMessage{"msg_p5jXN8AQM9LWM0D4loKWxJek", kSent, R"({"test": 2432232314})"};
constexpr const char* kSignature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

// 24 bytes 0, 1, 2…, and 64 of them.
constexpr const char* kOther = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
constexpr const char* kLongest =
    "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+Pw==";

std::string sign(const SignedMessage& message, std::initializer_list<const char*> secrets) {
  std::vector<SigningSecret> all;
  for (const char* secret : secrets) all.emplace_back(secret);
  return signature(message, all);
}

using test::refusal;

std::string secret_refusal(const std::string& text) {
  return refusal([&] { SigningSecret{text}; });
}

TEST(Signature, IsThatOfTheSpecification) {
  EXPECT_EQ(sign(kMessage, {kSecret}), kSignature);
}

TEST(Signature, HasOnePartForEachLiveSecret) {
  const std::string other = sign(kMessage, {kOther});
  EXPECT_NE(other, kSignature);
  EXPECT_EQ(sign(kMessage, {kSecret, kOther}), sign(kMessage, {kSecret}) + " " + other);
}

TEST(Signature, CoversTheIdTheTimeAndTheBody) {
  for (const SignedMessage& other :
       {SignedMessage{"msg_p5jXN8AQM9LWM0D4loKWxJel", kSent, kMessage.body},
        SignedMessage{kMessage.id, kSent + std::chrono::seconds{1}, kMessage.body},
        SignedMessage{kMessage.id, kSent, R"({"test": 2432232315})"}, SignedMessage{kMessage.id, kSent, ""}}) {
    EXPECT_NE(sign(other, {kSecret}), kSignature);
  }
}

TEST(Signature, IsOfAnyBytes) {
  const std::string zeros(3, '\0');
  EXPECT_NE(sign({kMessage.id, kSent, zeros}, {kSecret}), sign({kMessage.id, kSent, ""}, {kSecret}));
}

// "a.1" at 2 and "a" at "1.2" would be signed alike.
TEST(Signature, RefusesAnIdThatCouldBeReadInTwoWays) {
  for (const char* id : {"", "a.1", "a b", "a\r\nx-admin: yes", "ä"}) {
    EXPECT_THAT(refusal([&] { sign({id, kSent, "{}"}, {kSecret}); }), HasSubstr("letters, digits, - and _")) << id;
  }
}

TEST(Signature, NeedsASecret) {
  EXPECT_THAT(refusal([] { sign(kMessage, {}); }), HasSubstr("without a secret"));
}

TEST(SigningSecret, Has24To64Bytes) {
  EXPECT_EQ(SigningSecret{kSecret}.bytes().size(), 24U);
  EXPECT_EQ(SigningSecret{kLongest}.bytes().size(), 64U);
  EXPECT_THAT(secret_refusal("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRY="), HasSubstr("24 to 64 bytes, not 23"));
  EXPECT_THAT(secret_refusal("whsec_" + std::string(88, 'A')), HasSubstr("not 66"));
  EXPECT_THAT(secret_refusal("whsec_"), HasSubstr("not 0"));
}

TEST(SigningSecret, IsRefusedWithAdviceAndWithoutRepeatingIt) {
  for (const char* text : {"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "", "whsk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                           "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS!",
                           " whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"}) {
    EXPECT_THAT(secret_refusal(text), AllOf(HasSubstr("openssl rand -base64 32"), Not(HasSubstr("GKYqr")))) << text;
  }
}

template <class T>
concept Printable = requires(std::ostream& out, const T& value) {
  out << value;
};
static_assert(!Printable<SigningSecret>);

TEST(SigningSecret, IsWipedOnDestruction) {
  alignas(SigningSecret) std::array<unsigned char, sizeof(SigningSecret)> place{};
  auto* const secret = std::construct_at(reinterpret_cast<SigningSecret*>(place.data()), kOther);
  const std::array<unsigned char, 4> part{4, 5, 6, 7};
  ASSERT_FALSE(std::ranges::search(place, part).empty());
  std::destroy_at(secret);
  EXPECT_TRUE(std::ranges::search(place, part).empty());
}

}  // namespace
}  // namespace easyretry::webhook
