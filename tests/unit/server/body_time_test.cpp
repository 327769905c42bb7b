// Reading any body takes time in proportion to its length, and not much more than an ordinary body of that length
// takes. Processor time of this thread is compared with that of other bodies in the same moments; no absolute time is
// asked for.

#include <algorithm>
#include <functional>
#include <limits>

#include <gtest/gtest.h>
#include <time.h>

#include "server/refusal.h"
#include "server/task_requests.h"
#include "storage/open.h"

namespace easyretry::server {
namespace {

constexpr std::size_t kSize = 64'000;
constexpr std::size_t kTimesLonger = 4;
constexpr double kMostGrowth = 8;  // of the time, where the length grows four times; it is 16 where that is squared
constexpr double kMostOfOrdinary = 10;  // times an ordinary body
constexpr int kRounds = 10;

using Piece = std::function<std::string(std::size_t number)>;

struct Kind {
  const char* name;
  std::function<std::string(std::size_t size)> body;
  bool taken = true;
};

std::ostream& operator<<(std::ostream& out, const Kind& kind) {
  return out << kind.name;
}

// As many pieces as fit into `size` bytes.
std::string filled(std::string text, const Piece& piece, std::string_view between, std::string_view end,
                   std::size_t size) {
  for (std::size_t i = 0;; ++i) {
    const std::string next = piece(i);
    if (text.size() + between.size() + next.size() + end.size() > size) return text.append(end);
    if (i > 0) text.append(between);
    text.append(next);
  }
}

// As JsonWriter would write it, so that what it does not know is what the arguments have.
std::string task_of(std::string_view args) {
  return R"({"args":)" + std::string{args} + R"(,"handler":"mail"})";
}

Kind array_of(const char* name, const std::string& item, std::string_view between = ",") {
  return {name, [=](std::size_t size) {
            return task_of(filled(
                "[", [&](std::size_t) { return item; }, between, "]", size));
          }};
}

Kind text_of(const char* name, const std::string& character) {
  return {name, [=](std::size_t size) {
            return task_of(filled(
                "\"", [&](std::size_t) { return character; }, "", "\"", size));
          }};
}

Kind object_of(const char* name, const std::function<std::string(std::size_t number)>& key) {
  return {name, [=](std::size_t size) {
            return task_of(filled(
                "{", [&](std::size_t i) { return '"' + key(i) + "\":1"; }, ",", "}", size));
          }};
}

// One long thing: `size` times the same character between a beginning and an end.
Kind one(const char* name, const std::string& begin, char repeated, const std::string& end, bool taken = true) {
  return {name, [=](std::size_t size) { return task_of(begin + std::string(size, repeated) + end); }, taken};
}

Kind tasks_of(const char* name, const std::string& task, bool taken = true) {
  return {
      name,
      [=](std::size_t size) { return filled(R"({"tasks": [)", [&](std::size_t) { return task; }, ",", "]}", size); },
      taken};
}

std::string nested(std::size_t levels, std::string_view open, std::string_view close) {
  std::string text;
  for (std::size_t i = 0; i < levels; ++i) text.append(open);
  text.append("1");
  for (std::size_t i = 0; i < levels; ++i) text.append(close);
  return text;
}

std::string seven_digits(std::size_t number) {
  const std::string digits = std::to_string(number);
  return std::string(7 - digits.size(), '0') + digits;
}

// All different, in no order.
std::string scattered(std::size_t number) {
  return seven_digits(number * 7'919'993 % 9'999'991);
}

Kind refused(Kind kind) {
  kind.taken = false;
  return kind;
}

const Kind kOrdinary = array_of(
    "Ordinary",
    R"({"id": 42, "customer": "alice@example.com", "amount": 99.5, "items": [{"name": "pen", "count": 3}]})", ", ");

std::vector<Kind> kinds() {
  const std::string deep_end = ",\"a\":1}";
  return {
      array_of("IntegersOf20Digits", "18446744073709551615"),
      array_of("NegativeIntegers", "-9223372036854775808"),
      array_of("IntegersThatDoNotFit", "99999999999999999999"),
      array_of("IntegersOf300Digits", std::string(300, '7')),
      one("OneIntegerOutOfRange", "", '7', "", false),
      one("OneFraction", "0.", '7', ""),
      one("OneFractionOfZeros", "0.", '0', "7e600"),
      one("OneExponentOfZeros", "1e", '0', "7"),
      one("OneExponentOutOfRange", "1e", '9', "", false),
      one("OneExponentBelowRange", "1e-", '9', ""),
      array_of("LargeExponents", "1e308"),
      array_of("ExponentsBelowRange", "1e-400"),
      array_of("NumbersBetweenTwoDoubles", "9007199254740993." + std::string(780, '0') + "1"),
      array_of("SmallestNumbers", "2.2250738585072011e-308"),
      one("OneText", "\"", 'a', "\""),
      text_of("EscapedLetters", "\\u0041"),
      text_of("EscapedControls", "\\u0001"),
      text_of("EscapedSurrogates", "\\ud83d\\ude00"),
      text_of("EscapedLineEnds", "\\n"),
      text_of("LettersOfFourBytes", "\xF0\x9F\x98\x80"),
      array_of("ShortEscapedTexts", "\"\\n\""),
      array_of("EmptyTexts", "\"\""),
      one("HalfASurrogateAtTheEnd", "\"", 'a', "\\ud83d\"", false),
      one("NoUtf8AtTheEnd", "\"", 'a', "\xFF\"", false),
      array_of("DeepArrays", nested(60, "[", "]")),
      array_of("DeepObjects", nested(60, "{\"b\":", "}")),
      array_of("DeepObjectsOutOfOrder", nested(60, "{\"b\":", deep_end)),
      one("TooDeep", "", '[', "", false),
      object_of("KeysInOrder", seven_digits),
      object_of("KeysBackwards", [](std::size_t i) { return seven_digits(9'999'999 - i); }),
      object_of("KeysInNoOrder", scattered),
      object_of("KeysThatBeginAlike", [](std::size_t i) { return std::string(100, 'p') + scattered(i); }),
      object_of("LongKeysThatBeginAlike", [](std::size_t i) { return std::string(1000, 'p') + scattered(i); }),
      refused(object_of("OneKeyManyTimes", [](std::size_t) { return "a"; })),
      refused(object_of("OneKeyTwice", [](std::size_t i) { return i == 1   ? "x"
                                                                  : i == 2 ? "x"
                                                                           : scattered(i); })),
      one("Spaces", "", ' ', "1"),
      one("LineEnds", "", '\n', "1"),
      array_of("Digits", "1"),
      array_of("DigitsBetweenSpaces", "1", " , "),
      {"ASpaceAtTheEnd", [](std::size_t size) { return array_of("", "1").body(size) + " "; }},
      refused({"CutOff", [](std::size_t size) { return array_of("", "1").body(size).substr(0, size); }}),
      array_of("EmptyArrays", "[]"),
      array_of("ArraysOfOne", "[1]"),
      array_of("EmptyObjects", "{}"),
      array_of("ObjectsOfOne", "{\"\":1}"),
      array_of("ObjectsOutOfOrder", "{\"b\":1,\"a\":1}"),
      tasks_of("ManyTasks", R"({"handler":"mail","key":"k"})"),
      tasks_of("ManyTasksWithAll", R"({"handler":"mail","key":"k","tags":["a","b"],"business_id":"7","attempts":1})"),
      {"ManyFieldsThatAreNone",
       [](std::size_t size) {
         return filled(
             "{", [](std::size_t i) { return '"' + scattered(i) + "\":1"; }, ",", "}", size);
       },
       false},
      {"OneFieldThatIsNone", [](std::size_t size) { return "{\"" + std::string(size, 'k') + "\":1}"; }, false},
  };
}

double thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

class BodyTime : public ::testing::TestWithParam<Kind> {
 protected:
  static Config alone() {
    Config config;
    config.engine.membership = "alone";
    return config;
  }

  bool is_taken(const std::string& body) {
    try {
      const JsonDocument document = JsonDocument::parse(body);
      submitted_tasks(namespace_, document.root());
      return true;
    } catch (const JsonError&) {
    } catch (const Refusal&) {
    }
    return false;
  }

  Namespace namespace_{storage::open_store("memory:", system_clock()), alone()};
};

// The least time that reading it ever took.
class Least {
 public:
  explicit Least(std::string body) : body_(std::move(body)) {}

  void measure(const std::function<bool(const std::string&)>& read) {
    const double begin = thread_time();
    read(body_);
    seconds_ = std::min(seconds_, thread_time() - begin);
  }
  double seconds() const { return seconds_; }
  const std::string& body() const { return body_; }

 private:
  const std::string body_;
  double seconds_ = std::numeric_limits<double>::max();
};

// On a busy machine a measurement may be too long, but never too short: so it is repeated until it is short enough.
TEST_P(BodyTime, IsInProportionToItsLength) {
  Least some{GetParam().body(kSize)};
  Least more{GetParam().body(kSize * kTimesLonger)};
  Least ordinary{kOrdinary.body(more.body().size())};
  ASSERT_EQ(is_taken(some.body()), GetParam().taken);
  ASSERT_EQ(is_taken(more.body()), GetParam().taken);
  ASSERT_TRUE(is_taken(ordinary.body()));
  double growth = 0;
  double of_ordinary = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (Least* each : {&some, &more, &ordinary}) each->measure([&](const auto& body) { return is_taken(body); });
    growth = more.seconds() / some.seconds();
    of_ordinary = more.seconds() / ordinary.seconds();
    if (growth < kMostGrowth && of_ordinary <= kMostOfOrdinary) break;
  }
  RecordProperty("growth", std::to_string(growth));
  RecordProperty("of_ordinary", std::to_string(of_ordinary));
  EXPECT_LT(growth, kMostGrowth);
  EXPECT_LE(of_ordinary, kMostOfOrdinary);
}

INSTANTIATE_TEST_SUITE_P(Of, BodyTime, ::testing::ValuesIn(kinds()),
                         [](const auto& test) { return std::string{test.param.name}; });

}  // namespace
}  // namespace easyretry::server
