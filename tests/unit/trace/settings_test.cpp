#include "trace/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace easyretry::trace {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

const std::string kEndpoint = "OTEL_EXPORTER_OTLP_ENDPOINT";

Environment with(Environment more) {
  more.emplace(kEndpoint, "http://collector:4318");
  return more;
}

std::string refusal_of(const Environment& environment) {
  try {
    read_settings(environment, "app");
    return "nothing is refused";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(TraceSettings, TracingIsOffUnlessACollectorIsNamed) {
  EXPECT_FALSE(read_settings({}, "app"));
  EXPECT_FALSE(read_settings({{"OTEL_SERVICE_NAME", "shop"}, {"OTEL_TRACES_EXPORTER", "otlp"}}, "app"));
  EXPECT_FALSE(read_settings({{kEndpoint, ""}}, "app"));
  EXPECT_TRUE(read_settings(with({}), "app"));
}

TEST(TraceSettings, ADisabledSdkIsOffEvenIfOtherSettingsAreInvalid) {
  EXPECT_FALSE(read_settings(with({{"OTEL_SDK_DISABLED", "true"}, {"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}}), "app"));
  EXPECT_FALSE(read_settings(with({{"OTEL_TRACES_EXPORTER", "none"}}), "app"));
}

TEST(TraceSettings, TheEndpointGetsThePathOfTracesAndTheTracesEndpointIsTakenAsItIs) {
  EXPECT_EQ(read_settings(with({}), "app")->url, "http://collector:4318/v1/traces");
  EXPECT_EQ(read_settings({{kEndpoint, "https://c/otlp/"}}, "app")->url, "https://c/otlp/v1/traces");
  EXPECT_EQ(read_settings(with({{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://other/in"}}), "app")->url,
            "https://other/in");
}

TEST(TraceSettings, OtherProtocolsAndExportersAreRefusedByName) {
  EXPECT_THAT(refusal_of(with({{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"}})),
              HasSubstr("OTEL_EXPORTER_OTLP_PROTOCOL: only http/protobuf is known"));
  EXPECT_THAT(refusal_of(with({{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"}})),
              HasSubstr("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"));
  EXPECT_THAT(refusal_of(with({{"OTEL_TRACES_EXPORTER", "zipkin"}})), HasSubstr("OTEL_TRACES_EXPORTER"));
  EXPECT_THAT(refusal_of({{kEndpoint, "collector:4317"}}), HasSubstr(kEndpoint));
  EXPECT_TRUE(read_settings(with({{"OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"}}), "app"));
}

TEST(TraceSettings, HeadersAreDecodedAndThoseOfTracesReplaceTheOthers) {
  EXPECT_THAT(read_settings(with({{"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x=, a = b"}}), "app")->headers,
              ElementsAre("authorization: Bearer x=", "a: b"));
  EXPECT_THAT(
      read_settings(with({{"OTEL_EXPORTER_OTLP_HEADERS", "a=1"}, {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "b=2"}}), "app")
          ->headers,
      ElementsAre("b: 2"));
}

TEST(TraceSettings, AHeaderCannotAddAnotherOneAndIsNotShown) {
  const std::string said = refusal_of(with({{"OTEL_EXPORTER_OTLP_HEADERS", "a=secret%0d%0ab: c"}}));
  EXPECT_THAT(said, HasSubstr("control character"));
  EXPECT_THAT(said, Not(HasSubstr("secret")));
  EXPECT_THAT(refusal_of(with({{"OTEL_EXPORTER_OTLP_HEADERS", "secret"}})), Not(HasSubstr("secret")));
}

TEST(TraceSettings, TheServiceNameComesFromItsVariableThenFromTheAttributes) {
  EXPECT_THAT(read_settings(with({}), "app")->resource, Contains(Pair("service.name", "app")));
  const Environment attributes{{"OTEL_RESOURCE_ATTRIBUTES", "service.name=shop,deployment.environment=a%2Cb"}};
  EXPECT_THAT(read_settings(with(attributes), "app")->resource,
              AllOf(Contains(Pair("service.name", "shop")), Contains(Pair("deployment.environment", "a,b"))));
  Environment both = attributes;
  both.emplace("OTEL_SERVICE_NAME", "till");
  EXPECT_THAT(read_settings(with(both), "app")->resource, Contains(Pair("service.name", "till")));
}

TEST(TraceSettings, SamplersAreThoseOfOpenTelemetry) {
  const auto of = [](const std::string& sampler) {
    return read_settings(with({{"OTEL_TRACES_SAMPLER", sampler}, {"OTEL_TRACES_SAMPLER_ARG", "0.25"}}), "app")
        ->sampling;
  };
  EXPECT_FALSE(of("always_off").follows_submitter);
  EXPECT_EQ(of("always_off").ratio, 0);
  EXPECT_TRUE(of("parentbased_traceidratio").follows_submitter);
  EXPECT_EQ(of("parentbased_traceidratio").ratio, 0.25);
  EXPECT_TRUE(read_settings(with({}), "app")->sampling.follows_submitter);
  EXPECT_THAT(refusal_of(with({{"OTEL_TRACES_SAMPLER", "xray"}})), HasSubstr("OTEL_TRACES_SAMPLER"));
  EXPECT_THAT(refusal_of(with({{"OTEL_TRACES_SAMPLER", "traceidratio"}, {"OTEL_TRACES_SAMPLER_ARG", "2"}})),
              HasSubstr("from 0 to 1"));
}

TEST(TraceSettings, NumbersHaveBounds) {
  const auto settings = *read_settings(with({{"OTEL_BSP_MAX_QUEUE_SIZE", "100"},
                                             {"OTEL_BSP_SCHEDULE_DELAY", "0"},
                                             {"OTEL_EXPORTER_OTLP_TIMEOUT", "2500"}}),
                                       "app");
  EXPECT_EQ(settings.most_waiting, 100U);
  EXPECT_EQ(settings.batch, 100U);
  EXPECT_EQ(settings.delay, Millis{0});
  EXPECT_EQ(settings.timeout, Millis{2500});
  for (const auto* name : {"OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "OTEL_EXPORTER_OTLP_TIMEOUT"}) {
    for (const auto* value : {"0", "-1", "many", "99999999999999999999"}) {
      EXPECT_THAT(refusal_of(with({{name, value}})), HasSubstr(name)) << value;
    }
  }
}

}  // namespace
}  // namespace easyretry::trace
