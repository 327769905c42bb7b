#include "seal/sealer.h"

#include <atomic>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <easyretry/detail/json_text.h>

#include "seal/sealed_text.h"
#include "unit/seal/keys.h"

namespace easyretry::seal {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kArguments = R"(["order-42",3])";
const std::string kResult = R"({"code":200})";
const Binding kBinding{.name_space = "default", .handler = "payment.pay", .key = "order-42"};

Binding result_of(Binding binding) {
  binding.content = Content::result;
  return binding;
}

Encryption first_key() {
  return {.current = "2026-10", .keys = {test::key_a()}};
}
Encryption after_rotation() {
  return {.current = "2026-11", .keys = {test::key_a(), test::key_b()}};
}
Encryption required() {
  Encryption encryption = first_key();
  encryption.require = true;
  return encryption;
}

std::string opened(const Sealer& sealer, std::string_view stored, const Binding& binding = kBinding) {
  const auto plain = sealer.open(stored, binding);
  return plain ? *plain : to_string(plain.error());
}

bool opens(const Sealer& sealer, std::string_view stored, const Binding& binding = kBinding) {
  return sealer.open(stored, binding).has_value();
}

// Made with Python's cryptography (AESGCM, the nonce is the bytes 100 to 111). The stored form must not change: if
// these fail, tasks in existing databases can no longer be read.
const std::string kStoredArguments =
    R"({"$sealed":1,"key":"2026-10","data":"ZGVmZ2hpamtsbW5vb1YTzh/TZqnsG3qtI1R0rNcwHDEChf4mOnGmMEY0"})";
const std::string kStoredResult =
    R"({"$sealed":1,"key":"2026-10","data":"ZGVmZ2hpamtsbW5vT1Yf0x/TNr7qGWj8ftHclTg1ByRY3Lc0tMJ/Dw=="})";
const std::string kIdentity = "6879785ec07e836d74430a65fb847dd5";

TEST(Sealer, OpensTextSealedByAnotherImplementation) {
  const Sealer sealer{first_key()};
  EXPECT_EQ(opened(sealer, kStoredArguments), kArguments);
  EXPECT_EQ(opened(sealer, kStoredResult, result_of(kBinding)), kResult);
}

TEST(Sealer, WritesTheSameFormAsAnotherImplementation) {
  const Sealer sealer{first_key(), [](std::span<unsigned char> out) {
                        unsigned char next = 100;
                        for (unsigned char& byte : out) byte = next++;
                        return true;
                      }};
  EXPECT_EQ(sealer.seal(kArguments, kBinding).value(), kStoredArguments);
}

RC_GTEST_PROP(Sealer, OpensWhatItSealed,
              (const std::string& plain, const std::string& name_space, const std::string& handler,
               const std::string& key, int version, bool is_result)) {
  static const Sealer sealer{after_rotation()};
  const Binding binding{name_space, handler, key, is_result ? Content::result : Content::arguments, version};
  const std::string stored = sealer.seal(plain, binding).value();
  RC_ASSERT(sealer.open(stored, binding).value() == plain);
  RC_ASSERT(form_of(stored, binding.content) == Form::sealed);
  RC_ASSERT(stored.size() == 32 + 7 + (plain.size() + 28 + 2) / 3 * 4);
  const auto document = JsonDocument::parse(stored);
  RC_ASSERT(document.root().size() == 3U);
}

TEST(Sealer, SealsAnEmptyPayloadAndALargeOne) {
  const Sealer sealer{first_key()};
  for (const std::string& plain : {std::string{}, std::string(3 << 20, 'x')}) {
    EXPECT_EQ(sealer.open(sealer.seal(plain, kBinding).value(), kBinding).value(), plain);
  }
}

TEST(Sealer, NeverSealsTwiceAlike) {
  const Sealer sealer{first_key()};
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(sealer.seal(kArguments, kBinding).value());
  EXPECT_EQ(seen.size(), 1000U);
}

TEST(Sealer, ShowsNothingOfThePayload) {
  const Sealer sealer{first_key()};
  const std::string stored = sealer.seal("[\"secret\"]", kBinding).value();
  EXPECT_THAT(stored, AllOf(Not(HasSubstr("secret")), Not(HasSubstr("WyJzZWNyZXQiXQ"))));
}

TEST(Sealer, OpensOnlyWhereItWasSealedFor) {
  const Sealer sealer{first_key()};
  Binding name_space = kBinding, handler = kBinding, key = kBinding, version = kBinding;
  name_space.name_space = "other";
  handler.handler = "payment.refund";
  key.key = "order-43";
  version.payload_version = 2;
  for (const Binding& other : {name_space, handler, key, version, result_of(kBinding)}) {
    EXPECT_THAT(opened(sealer, kStoredArguments, other), HasSubstr("copied from another task"));
  }
}

RC_GTEST_PROP(Binding, HasAnEncodingOfItsOwn, ()) {
  const auto text = rc::gen::container<std::string>(rc::gen::element('a', 'b', '\0', '\1'));
  const std::string s = *text, h = *text, k = *text, s2 = *text, h2 = *text, k2 = *text;
  const Binding a{s, h, k}, b{s2, h2, k2};
  RC_ASSERT((encode(a) == encode(b)) == (s == s2 && h == h2 && k == k2));
}

TEST(Binding, DoesNotRunItsTextsTogether) {
  const Binding a{.name_space = "ab", .handler = "c", .key = ""}, b{.name_space = "a", .handler = "bc", .key = ""};
  EXPECT_NE(encode(a), encode(b));
}

TEST(Sealer, RefusesEveryFlippedBit) {
  const Sealer sealer{after_rotation()};
  for (const auto& [stored, binding] :
       {std::pair{kStoredArguments, kBinding}, std::pair{kStoredResult, result_of(kBinding)}}) {
    for (std::size_t bit = 0; bit < stored.size() * 8; ++bit) {
      std::string changed = stored;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_FALSE(opens(sealer, changed, binding)) << changed;
    }
  }
}

TEST(Sealer, RefusesArgumentsThatWereCutOff) {
  const Sealer sealer{first_key()};
  for (std::size_t size = 0; size < kStoredArguments.size(); ++size) {
    EXPECT_FALSE(opens(sealer, kStoredArguments.substr(0, size))) << size;
  }
}

RC_GTEST_PROP(Sealer, RefusesEveryMutation, ()) {
  static const Sealer sealer{after_rotation()};
  std::string changed = kStoredArguments;
  const int edits = *rc::gen::inRange(1, 4);
  for (int i = 0; i < edits; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, changed.size() + 1);
    const auto count = *rc::gen::inRange<std::size_t>(0, 5);
    changed.replace(at, count, *rc::gen::arbitrary<std::string>());
  }
  RC_PRE(changed != kStoredArguments && !changed.starts_with('['));
  RC_ASSERT(!opens(sealer, changed));
}

RC_GTEST_PROP(Sealer, SurvivesGarbage, (const std::string& garbage, bool is_result)) {
  static const Sealer sealer{required()};
  const Binding binding = is_result ? result_of(kBinding) : kBinding;
  RC_ASSERT(!opens(sealer, garbage, binding));
  RC_ASSERT(!opens(sealer, R"({"$sealed":1,"key":"2026-10","data":")" + garbage + "\"}", binding));
  RC_ASSERT(!opens(sealer, R"({"$sealed":1,"key":")" + garbage + R"(","data":""})", binding));
}

TEST(Sealer, SaysWhatIsWrong) {
  const Sealer sealer{first_key()};
  const auto with_data = [](const std::string& data) {
    return R"({"$sealed":1,"key":"2026-10","data":")" + data + "\"}";
  };
  EXPECT_THAT(opened(sealer, kStoredArguments.substr(0, 60)), HasSubstr("the stored arguments: sealed, but cut off"));
  EXPECT_THAT(opened(sealer, R"({"$sealed":2,"key":"2026-10","data":""})"), HasSubstr("written by a newer version"));
  EXPECT_THAT(opened(sealer, R"({"$sealed":1,"key":"a b","data":""})"), HasSubstr("damaged in the id of its key"));
  EXPECT_THAT(opened(sealer, with_data("?")), HasSubstr("not base64"));
  EXPECT_THAT(opened(sealer, with_data("Zm9v")), HasSubstr("less than 28 bytes"));
  EXPECT_THAT(opened(sealer, "?"), HasSubstr("neither a sealed payload nor a plain one"));
  EXPECT_THAT(opened(sealer, ""), HasSubstr("neither a sealed payload nor a plain one"));
  EXPECT_THAT(opened(sealer, kStoredArguments, result_of(kBinding)),
              HasSubstr("the stored result: sealed with the key"));
}

TEST(Sealer, LooksAtTheSizeFirst) {
  const Sealer sealer{first_key()};
  const std::string_view stored{kStoredArguments.data(), kMaxPlain * 2};  // would crash if more than the start is read
  EXPECT_THAT(opened(sealer, stored), HasSubstr("larger than anything that is ever written"));
  const auto sealed = sealer.seal({kArguments.data(), kMaxPlain + 1}, kBinding);
  ASSERT_FALSE(sealed);
  EXPECT_EQ(sealed.error().code, Errc::invalid_argument);
}

TEST(Sealer, ReadsTextSealedWithOlderKeysAndSealsWithTheCurrentOne) {
  const Sealer sealer{after_rotation()};
  EXPECT_EQ(opened(sealer, kStoredArguments), kArguments);
  EXPECT_THAT(sealer.seal(kArguments, kBinding).value(), HasSubstr("\"key\":\"2026-11\""));
}

TEST(Sealer, NamesTheKeyThatIsMissing) {
  const Sealer sealer{{.current = "2026-11", .keys = {test::key_b()}}};
  EXPECT_THAT(opened(sealer, kStoredArguments), AllOf(HasSubstr("\"2026-10\", which is missing"),
                                                      HasSubstr("add it to encryption.keys"), Not(HasSubstr("f0e0"))));
}

TEST(Sealer, NoticesAKeyWithAnotherSecret) {
  const Sealer sealer{{.current = "2026-10", .keys = {test::key_b("2026-10")}}};
  EXPECT_THAT(opened(sealer, kStoredArguments), HasSubstr("the key has a different secret"));
}

TEST(Sealer, ReadsPlainPayloadsUnlessEncryptionIsRequired) {
  const Sealer relaxed{first_key()}, strict{required()};
  EXPECT_EQ(opened(relaxed, kArguments), kArguments);
  EXPECT_EQ(opened(relaxed, "[]"), "[]");
  EXPECT_EQ(opened(relaxed, kResult, result_of(kBinding)), kResult);
  EXPECT_EQ(opened(relaxed, "5", result_of(kBinding)), "5");
  EXPECT_THAT(opened(strict, kArguments), HasSubstr("not encrypted, and encryption.require is set"));
  EXPECT_THAT(opened(strict, kResult, result_of(kBinding)), HasSubstr("not encrypted"));
  EXPECT_EQ(opened(strict, kStoredArguments), kArguments);
}

TEST(Sealer, DoesNotTakeArgumentsThatLookSealedForSealedOnes) {
  const Sealer sealer{first_key()};
  const std::string lookalike = "[" + kStoredArguments + "]";
  EXPECT_EQ(opened(sealer, lookalike), lookalike);
  EXPECT_EQ(opened(sealer, R"(["$sealed",1])"), R"(["$sealed",1])");
  const std::string stored = sealer.seal(kStoredArguments, kBinding).value();
  EXPECT_EQ(opened(sealer, stored), kStoredArguments) << "opened once, not twice";
}

TEST(Sealer, FailsIfThereAreNoRandomNumbers) {
  const Sealer sealer{first_key(), [](std::span<unsigned char>) { return false; }};
  const auto sealed = sealer.seal(kArguments, kBinding);
  ASSERT_FALSE(sealed);
  EXPECT_EQ(sealed.error().code, Errc::unavailable);
}

TEST(Sealer, NeedsAKey) {
  EXPECT_THROW(Sealer{Encryption{}}, std::invalid_argument);
  EXPECT_THROW((Sealer{{.current = "x", .keys = {test::key_a()}}}), std::invalid_argument);
}

TEST(Identity, IsAnHmacThatStaysWhenKeysRotate) {
  EXPECT_EQ(Sealer{first_key()}.identity(kArguments), kIdentity);
  EXPECT_EQ(Sealer{after_rotation()}.identity(kArguments), kIdentity) << "of the first key";
  const Encryption reordered{.current = "2026-11", .keys = {test::key_b(), test::key_a()}, .identity_key = "2026-10"};
  EXPECT_EQ(Sealer{reordered}.identity(kArguments), kIdentity) << "of the key that was named";
}

TEST(Identity, DependsOnTheKeyAndTheArguments) {
  const Sealer a{first_key()}, b{{.current = "2026-11", .keys = {test::key_b()}}};
  EXPECT_NE(a.identity(kArguments), b.identity(kArguments));
  EXPECT_NE(a.identity("[1]"), a.identity("[2]"));
  EXPECT_EQ(a.identity("").size(), 32U);
}

TEST(Sealer, ServesManyThreadsAtOnce) {
  const Sealer sealer{after_rotation()};
  std::atomic<int> wrong = 0;
  const auto work = [&](int seed) {
    for (int i = 0; i < 300; ++i) {
      const std::string plain = "[" + std::to_string(seed + i) + "]";
      const std::string stored = sealer.seal(plain, kBinding).value();
      if (opened(sealer, stored) != plain || opens(sealer, stored, result_of(kBinding))) ++wrong;
      if (sealer.identity(kArguments) != kIdentity) ++wrong;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) threads.emplace_back(work, i * 1000);
  }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace easyretry::seal
