#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <easyretry/json.h>

#include "support/refusal.h"

namespace shop {

enum class Currency : std::uint8_t { euro = 1, yen = 2 };

struct Item {
  std::string name;
  int count = 0;
  friend bool operator==(const Item&, const Item&) = default;
};
EASYRETRY_JSON(Item, name, count)

struct Order {
  std::string id;
  double amount = 0;
  Currency currency = Currency::euro;
  std::vector<Item> items;
  std::optional<std::string> note = "a default";
  friend bool operator==(const Order&, const Order&) = default;
};
EASYRETRY_JSON(Order, id, amount, currency, items, note)

struct Express : Order {};  // has no fields of its own: must not be stored as an Order

struct Priority : Item {
  int level = 0;
};
EASYRETRY_JSON(Priority, name, level)

struct Empty {
  friend bool operator==(const Empty&, const Empty&) = default;
};
EASYRETRY_JSON(Empty)

struct Tree {
  int value = 0;
  std::vector<Tree> branches;
  friend bool operator==(const Tree&, const Tree&) = default;
};
EASYRETRY_JSON(Tree, value, branches)

struct Wide {
  int a0 = 0, a1 = 1, a2 = 2, a3 = 3, a4 = 4, a5 = 5, a6 = 6, a7 = 7, a8 = 8, a9 = 9, b0 = 10, b1 = 11, b2 = 12;
  int b3 = 13, b4 = 14, b5 = 15, b6 = 16, b7 = 17, b8 = 18, b9 = 19, c0 = 20, c1 = 21, c2 = 22, c3 = 23, c4 = 24;
  int c5 = 25, c6 = 26, c7 = 27, c8 = 28, c9 = 29, d0 = 30, d1 = 31, d2 = 32, d3 = 33, d4 = 34, d5 = 35, d6 = 36;
  friend bool operator==(const Wide&, const Wide&) = default;
};
EASYRETRY_JSON(Wide, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3, c4,
               c5, c6, c7, c8, c9, d0, d1, d2, d3, d4, d5, d6)

struct Doubled {
  int b = 0, a = 0;
};
EASYRETRY_JSON(Doubled, b, a, b)

struct Unknown {};

}  // namespace shop

namespace easyretry {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

static_assert(JsonConvertible<std::map<std::string, std::vector<shop::Order>>>);
static_assert(JsonConvertible<std::tuple<>>);
static_assert(JsonWritable<std::string_view> && !JsonReadable<std::string_view>);
static_assert(!JsonConvertible<shop::Unknown>);
static_assert(!JsonConvertible<shop::Express>);
static_assert(!JsonConvertible<std::vector<shop::Unknown>>);
static_assert(!JsonConvertible<std::optional<std::optional<int>>>);
static_assert(!JsonConvertible<int*>);

template <class T>
void expect_text(const T& value, const std::string& text) {
  EXPECT_EQ(to_json(value), text);
  EXPECT_EQ(from_json<T>(text), value);
}

template <class T>
std::string read_refusal(std::string_view text) {
  return test::refusal<JsonError>([&] { from_json<T>(text); });
}

TEST(Json, StoresScalars) {
  expect_text(true, "true");
  expect_text(std::int8_t{-128}, "-128");
  expect_text('A', "65");
  expect_text(UINT64_MAX, "18446744073709551615");
  expect_text(INT64_MIN, "-9223372036854775808");
  expect_text(0.1, "0.1");
  expect_text(0.1f, "0.1");
  expect_text(std::string{"支付 ok"}, "\"支付 ok\"");
  expect_text(shop::Currency::yen, "2");
  expect_text(nullptr, "null");
  expect_text(std::monostate{}, "null");
}

TEST(Json, WritesBorrowedText) {
  EXPECT_EQ(to_json(std::string_view{"view"}), "\"view\"");
  EXPECT_EQ(to_json("literal"), "\"literal\"");
  const char* pointer = "pointer";
  EXPECT_EQ(to_json(std::tuple{pointer, 1}), "[\"pointer\",1]");
}

TEST(Json, StoresContainers) {
  expect_text(std::vector<int>{1, 2, 3}, "[1,2,3]");
  expect_text(std::vector<bool>{true, false}, "[true,false]");
  expect_text(std::array<std::string, 2>{"a", "b"}, R"(["a","b"])");
  expect_text(std::array<int, 0>{}, "[]");
  expect_text(std::set<int>{3, 1, 2}, "[1,2,3]");
  expect_text(std::deque<std::string>{"b", "a"}, R"(["b","a"])");
  expect_text(std::list<std::vector<int>>{{2}, {1}}, "[[2],[1]]");
  expect_text(std::map<int, std::string>{{2, "b"}, {1, "a"}}, R"([[1,"a"],[2,"b"]])");
  expect_text(std::pair{1, std::string{"x"}}, R"([1,"x"])");
  expect_text(std::tuple{1, 2.5, std::string{"x"}}, R"([1,2.5,"x"])");
  expect_text(std::tuple<>{}, "[]");
  expect_text(std::map<std::string, int>{{"b", 2}, {"a", 1}}, R"({"a":1,"b":2})");
}

TEST(Json, StoresEqualHashMapsAsEqualTexts) {
  std::unordered_map<std::string, int> map;
  std::string text = "{";
  for (char c = 'a'; c <= 'z'; ++c) {
    map[std::string(3, c)] = c;
    text += std::string{c == 'a' ? "" : ","} + "\"" + std::string(3, c) + "\":" + std::to_string(int{c});
  }
  expect_text(map, text + "}");
}

// Two orders of insertion and two bucket counts: the arbitrary order of a hash table must not show.
TEST(Json, StoresEqualHashSetsAndMapsOfNumbersAsEqualTexts) {
  std::unordered_set<int> up;
  std::unordered_set<int> down(1000);
  std::unordered_map<shop::Currency, std::string> one{{shop::Currency::euro, "e"}, {shop::Currency::yen, "y"}};
  std::unordered_map<shop::Currency, std::string> two(64);
  for (int n = 0; n < 50; ++n) up.insert(n);
  for (int n = 50; n-- > 0;) down.insert(n);
  for (const auto& [currency, name] : std::map<shop::Currency, std::string>(one.begin(), one.end())) {
    two.emplace(currency, name);
  }
  EXPECT_EQ(to_json(up), to_json(down));
  EXPECT_EQ(from_json<std::unordered_set<int>>(to_json(up)), up);
  expect_text(one, R"([[1,"e"],[2,"y"]])");
  expect_text(two, R"([[1,"e"],[2,"y"]])");
}

TEST(Json, StoresChoices) {
  expect_text(std::optional<int>{}, "null");
  expect_text(std::optional<int>{5}, "5");
  expect_text(std::vector<std::optional<int>>{1, {}, 3}, "[1,null,3]");
  using Either = std::variant<std::monostate, int, int, std::string>;
  expect_text(Either{}, "[0,null]");
  expect_text(Either{std::in_place_index<2>, 7}, "[2,7]");
  expect_text(Either{"x"}, R"([3,"x"])");
}

TEST(Json, StoresADurationAsItsOwnCount) {
  expect_text(std::chrono::seconds{90}, "90");
  expect_text(std::chrono::milliseconds{90}, "90");
  expect_text(std::chrono::duration<double>{1.5}, "1.5");
}

TEST(Json, StoresATimeAsMillisecondsSince1970) {
  expect_text(std::chrono::sys_time<std::chrono::milliseconds>{1'700'000'000'123ms}, "1700000000123");
  expect_text(std::chrono::sys_days{std::chrono::year{1970} / 1 / 2}, "86400000");
  EXPECT_EQ(to_json(std::chrono::sys_time<std::chrono::nanoseconds>{-1ns}), "-1");
}

TEST(Json, RefusesATimeItsTypeCannotHold) {
  using Nanos = std::chrono::sys_time<std::chrono::nanoseconds>;
  expect_text(Nanos{9'223'372'036'854ms}, "9223372036854");
  EXPECT_THAT(read_refusal<Nanos>("9223372036855"), HasSubstr("a time that its type can hold"));
  EXPECT_THROW(to_json(std::chrono::sys_seconds::max()), JsonError);
}

TEST(Json, StoresAStructWithItsFieldsSorted) {
  const shop::Order order{"o-1", 9.5, shop::Currency::yen, {{"tea", 2}}, "gift"};
  expect_text(order, R"({"amount":9.5,"currency":2,"id":"o-1","items":[{"count":2,"name":"tea"}],"note":"gift"})");
}

TEST(Json, StoresUnusualStructs) {
  expect_text(shop::Empty{}, "{}");
  expect_text(
      shop::Tree{1, {{2, {}}, {3, {{4, {}}}}}},
      R"({"branches":[{"branches":[],"value":2},{"branches":[{"branches":[],"value":4}],"value":3}],"value":1})");
  shop::Wide wide;
  wide.d6 = -1;
  EXPECT_EQ(from_json<shop::Wide>(to_json(wide)), wide);
  EXPECT_EQ(to_json(shop::Priority{{"tea", 2}, 3}), R"({"level":3,"name":"tea"})");
}

TEST(Json, RefusesAFieldThatIsListedTwice) {
  EXPECT_THROW(to_json(shop::Doubled{}), JsonError);
}

TEST(Json, LeavesOutAnEmptyOptionalField) {
  shop::Order order;
  order.note.reset();
  EXPECT_EQ(to_json(order), R"({"amount":0,"currency":1,"id":"","items":[]})");
  EXPECT_EQ(from_json<shop::Order>(to_json(order)), order);
  EXPECT_EQ(from_json<shop::Order>(R"({"amount":0,"currency":1,"id":"","items":[],"note":null})"), order);
}

TEST(Json, IgnoresUnknownFields) {
  EXPECT_EQ(from_json<shop::Item>(R"({"name":"tea","count":1,"since":"v2"})"), (shop::Item{"tea", 1}));
}

TEST(Json, NamesAMissingField) {
  EXPECT_EQ(read_refusal<std::vector<shop::Item>>(R"([{"name":"tea"}])"), "$[0].count: missing");
}

TEST(Json, NamesThePathOfAFieldOfTheWrongType) {
  EXPECT_EQ(read_refusal<std::vector<shop::Item>>(R"([{"name":5,"count":1}])"),
            "$[0].name: expected a string, found an integer");
  EXPECT_EQ(read_refusal<shop::Item>("[]"), "$: expected an object, found an array of 0");
  EXPECT_EQ(read_refusal<shop::Empty>("[]"), "$: expected an object, found an array of 0");
  EXPECT_EQ(read_refusal<std::vector<int>>("{}"), "$: expected an array, found an object");
  EXPECT_EQ(read_refusal<std::set<int>>("{}"), "$: expected an array, found an object");
  using ByNumber = std::map<int, std::string>;
  EXPECT_EQ(read_refusal<ByNumber>(R"([[1,"a"],[2]])"), "$[1]: expected an array of 2, found an array of 1");
}

TEST(Json, RefusesAnIntegerThatDoesNotFit) {
  EXPECT_EQ(read_refusal<std::vector<std::uint8_t>>("[1,256]"),
            "$[1]: expected an integer from 0 to 255, found another");
  EXPECT_EQ(read_refusal<std::int8_t>("-129"), "$: expected an integer from -128 to 127, found another");
  EXPECT_EQ(read_refusal<shop::Currency>("256"), "$: expected an integer from 0 to 255, found another");
  EXPECT_THAT(read_refusal<int>("1.0"), HasSubstr("expected an integer"));
  EXPECT_THAT(read_refusal<unsigned>("-1"), HasSubstr("not negative"));
  EXPECT_THAT(read_refusal<float>("1e39"), HasSubstr("fits in a float"));
}

TEST(Json, RefusesTheWrongNumberOfElements) {
  EXPECT_EQ(read_refusal<std::tuple<int>>("[1,2]"), "$: expected an array of 1, found an array of 2");
  EXPECT_EQ((read_refusal<std::pair<int, int>>("[1]")), "$: expected an array of 2, found an array of 1");
  EXPECT_EQ((read_refusal<std::array<int, 2>>("[1,2,3]")), "$: expected an array of 2, found an array of 3");
}

TEST(Json, RefusesAVariantIndexOutOfRange) {
  EXPECT_EQ((read_refusal<std::variant<int, bool>>("[2,1]")), "$[0]: expected an index below 2, found an integer");
}

RC_GTEST_PROP(Json, IntegersReadBackEqual, (std::int64_t a, std::uint64_t b)) {
  RC_ASSERT(from_json<std::int64_t>(to_json(a)) == a);
  RC_ASSERT(from_json<std::uint64_t>(to_json(b)) == b);
}

// Every bit pattern, not only the small numbers that a generator of doubles prefers.
RC_GTEST_PROP(Json, NumbersReadBackEqual, ()) {
  const auto wide = std::bit_cast<double>(*rc::gen::resize(100, rc::gen::arbitrary<std::uint64_t>()));
  const auto narrow = std::bit_cast<float>(*rc::gen::resize(100, rc::gen::arbitrary<std::uint32_t>()));
  RC_PRE(std::isfinite(wide) && std::isfinite(narrow));
  RC_ASSERT(from_json<double>(to_json(wide)) == wide);
  RC_ASSERT(from_json<float>(to_json(narrow)) == narrow);
}

RC_GTEST_PROP(Json, TextsReadBackEqual, ()) {
  const auto points = *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::element<std::uint32_t>(
      0, 1, 0x1F, '"', '\\', '/', 'a', 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF));
  std::string text;
  for (const auto c : points) {
    if (c < 0x80) {
      text += static_cast<char>(c);
    } else if (c < 0x800) {
      text += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 63))};
    } else if (c < 0x10000) {
      text += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 63)),
               static_cast<char>(0x80 | (c & 63))};
    } else {
      text += {static_cast<char>(0xF0 | c >> 18), static_cast<char>(0x80 | (c >> 12 & 63)),
               static_cast<char>(0x80 | (c >> 6 & 63)), static_cast<char>(0x80 | (c & 63))};
    }
  }
  RC_ASSERT(from_json<std::string>(to_json(text)) == text);
}

RC_GTEST_PROP(Json, WritingIsIndependentOfTheOrderOfKeys, (const std::map<std::string, int>& wanted)) {
  std::map<std::string, int> map;
  for (const auto& [key, value] : wanted) map.emplace(to_json(std::vector<int>(key.begin(), key.end())), value);
  const std::map<std::string, int, std::greater<>> reversed(map.begin(), map.end());
  RC_ASSERT(to_json(reversed) == to_json(map));
}

}  // namespace
}  // namespace easyretry
