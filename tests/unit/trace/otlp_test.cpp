#include "trace/otlp.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/wire.h"

namespace easyretry::trace {
namespace {

using ::testing::ElementsAre;
using namespace std::string_literals;

// All fields of a message, by number.
using Fields = std::multimap<std::uint64_t, WireField>;

Fields fields_of(std::string_view message) {
  Fields fields;
  WireReader reader{message};
  while (const auto field = reader.next()) fields.emplace(field->number, *field);
  return fields;
}

std::string_view inside(std::string_view message, std::uint64_t number) {
  const Fields fields = fields_of(message);
  const auto found = fields.find(number);
  return found == fields.end() ? std::string_view{} : found->second.bytes;
}

// request.resource_spans.scope_spans.spans
std::string_view only_span(const std::string& request) {
  return inside(inside(inside(request, 1), 2), 2);
}

Span example() {
  Span span;
  span.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  span.parent = "0102030405060708";
  span.name = "attempt mail.send";
  span.kind = Span::Kind::consumer;
  span.began_at = TimePoint{Millis{1'700'000'000'123}};
  span.took = std::chrono::nanoseconds{4'567};
  span.attributes = {{"easyretry.handler", "mail.send"}, {"easyretry.attempt", 300}};
  span.links = {"00-4bf92f3577b34da6a3ce929d0e0e4736-1111111111111111-01"};
  span.failed = true;
  span.error = "HTTP 503";
  return span;
}

std::string request_with(const Span& span) {
  return export_request({{"service.name", "shop"}}, {&span, 1});
}

TEST(Otlp, ASpanHasItsIdsNameKindAndTimes) {
  const std::string request = request_with(example());
  const Fields span = fields_of(only_span(request));
  EXPECT_EQ(span.find(1)->second.bytes, "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6\xa3\xce\x92\x9d\x0e\x0e\x47\x36");
  EXPECT_EQ(span.find(2)->second.bytes, "\x00\xf0\x67\xaa\x0b\xa9\x02\xb7"s);
  EXPECT_EQ(span.find(4)->second.bytes, "\x01\x02\x03\x04\x05\x06\x07\x08");
  EXPECT_EQ(span.find(5)->second.bytes, "attempt mail.send");
  EXPECT_EQ(span.find(6)->second.value, 5U);
  EXPECT_EQ(span.find(7)->second.value, 1'700'000'000'123'000'000U);
  EXPECT_EQ(span.find(8)->second.value, 1'700'000'000'123'004'567U);
}

TEST(Otlp, AttributesAreTextsAndNumbers) {
  const std::string request = request_with(example());
  const Fields span = fields_of(only_span(request));
  std::vector<std::string> names;
  for (auto [at, end] = span.equal_range(9); at != end; ++at) names.emplace_back(inside(at->second.bytes, 1));
  EXPECT_THAT(names, ElementsAre("easyretry.handler", "easyretry.attempt"));
  const auto first = span.lower_bound(9);
  EXPECT_EQ(inside(inside(first->second.bytes, 2), 1), "mail.send");
  EXPECT_EQ(fields_of(inside(std::next(first)->second.bytes, 2)).find(3)->second.value, 300U);
}

TEST(Otlp, AFailedSpanHasAStatusAndASuccessfulOneHasNone) {
  Span span = example();
  const std::string failed = request_with(span);
  const std::string_view status = inside(only_span(failed), 15);
  EXPECT_EQ(inside(status, 2), "HTTP 503");
  EXPECT_EQ(fields_of(status).find(3)->second.value, 2U);
  span.failed = false;
  const std::string succeeded = request_with(span);
  EXPECT_FALSE(fields_of(only_span(succeeded)).contains(15));
}

TEST(Otlp, ALinkHasTheIdsOfTheSpanBefore) {
  const std::string request = request_with(example());
  const std::string_view link = inside(only_span(request), 13);
  EXPECT_EQ(inside(link, 1).size(), 16U);
  EXPECT_EQ(inside(link, 2), std::string(8, '\x11'));
}

TEST(Otlp, TheResourceAndTheScopeSayWhoSends) {
  const std::string request = request_with(example());
  const std::string_view of_resource = inside(request, 1);
  EXPECT_EQ(inside(inside(inside(of_resource, 1), 1), 1), "service.name");
  EXPECT_EQ(inside(inside(inside(of_resource, 2), 1), 1), "easyretry");
}

TEST(Otlp, TextThatIsNotUtf8DoesNotSpoilTheBatch) {
  Span span = example();
  span.name = "attempt \xff";
  const std::string request = request_with(span);
  EXPECT_EQ(inside(only_span(request), 5), "attempt \xef\xbf\xbd");
}

TEST(Otlp, ThePartThatACollectorRejectsIsRead) {
  EXPECT_EQ(rejected_spans(""), 0U);
  EXPECT_EQ(rejected_spans("\x0a\x03\x08\xac\x02"), 300U);
  EXPECT_EQ(rejected_spans("\x0a\x06\x12\x01x\x08\x07\x00"s), 7U);
  for (const std::string& broken : {"<html>"s, "\x0a\xff"s, "\x0a"s, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"s}) {
    EXPECT_EQ(rejected_spans(broken), 0U);
  }
}

}  // namespace
}  // namespace easyretry::trace
