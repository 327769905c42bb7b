// Keys and shards are stored and must not change between versions or machines: these vectors were made with other
// implementations (MD5 by Python's hashlib, XXH64 by python-xxhash 3).

#include "task/task_key.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "task/task_id.h"

namespace easyretry::task {
namespace {

struct Md5Vector {
  std::string_view arguments;
  std::string_view hex;
};

TEST(DerivedKeys, AreTheHandlerAndTheMd5OfTheArguments) {
  using namespace std::string_view_literals;
  for (const auto& [arguments, hex] :
       {Md5Vector{"", "d41d8cd98f00b204e9800998ecf8427e"}, Md5Vector{"abc", "900150983cd24fb0d6963f7d28e17f72"},
        Md5Vector{"[]", "d751713988987e9331980363e24189ce"},
        Md5Vector{R"({"amount":1})", "aa84351ce3c1d7dfbc3c94bbe2778f17"},
        Md5Vector{R"(["order-42",3])", "7578837349454a854e875f11bdacc7bf"},
        Md5Vector{R"(["订单"])", "32e000b5676de03ecfb6bda90cc0d5bc"},
        Md5Vector{"a\0b"sv, "70350f6027bce3713f6b76473084309b"}}) {
    EXPECT_EQ(derive_key("pay", arguments), "pay:" + std::string{hex});
  }
}

TEST(DerivedKeys, DifferByHandler) {
  EXPECT_NE(derive_key("pay", "[42]"), derive_key("ship", "[42]"));
  EXPECT_EQ(derive_key("", "abc"), ":900150983cd24fb0d6963f7d28e17f72");
}

struct Xxh64Vector {
  std::string text;
  std::uint64_t hash;
};

TEST(Shards, AreTheXxh64OfTheText) {
  const Xxh64Vector vectors[] = {
      {"", 0xEF46DB3751D8E999},
      {"a", 0xD24EC4F1A98C6E5B},
      {"abc", 0x44BC2CF5AD770999},
      {"42", 0x6DE6F5D076D742B9},
      {"order-42", 0xB5623EC0A2FA4FCE},
      {"Nobody inspects the spammish repetition", 0xFBCEA83C8A378BF1},
      {"订单-四十二", 0xD6038601A6117603},
      {std::string(100, 'x'), 0x92F0DE5A88A3C094},
      {std::string{"a\0b", 3}, 0xB51B25D68D1338C1},
  };
  // A power of two uses only the low bits of the hash; a prime uses all 64.
  for (const int total : {1, 64, 4093, kMaxShards}) {
    for (const auto& [text, hash] : vectors) {
      const auto wanted = ShardId{static_cast<std::uint16_t>(hash % static_cast<unsigned>(total))};
      EXPECT_EQ(shard_for("", text, total), wanted) << text;
    }
  }
}

TEST(Shards, FollowTheBusinessIdWhereThereIsOne) {
  EXPECT_EQ(shard_for("42", "pay:1", 64), ShardId{57});
  EXPECT_EQ(shard_for("42", "ship:1", 64), ShardId{57});
  EXPECT_EQ(shard_for("", "abc", 64), ShardId{25});
}

}  // namespace
}  // namespace easyretry::task
