#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nacos/options.h"
#include "support/refusal.h"

namespace easyretry::nacos {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string refusal(const std::string& url) {
  return test::refusal<std::invalid_argument>([&] { parse_service_url(url); });
}

TEST(NacosUrl, NamesAServiceOfSomeServers) {
  const ServiceUrl url = parse_service_url("nacos://a:80,b/orders");
  EXPECT_EQ(url.client.servers, parse_servers("a:80,b:8848"));
  EXPECT_EQ(url.service, (ServiceName{"orders", "DEFAULT_GROUP"}));
  EXPECT_EQ(url.cluster, "DEFAULT");
  EXPECT_FALSE(url.client.credentials);
  EXPECT_FALSE(url.client.tls);
}

TEST(NacosUrl, HasUserPasswordAndOptionsEscapedWhereTheyMustBe) {
  const ServiceUrl url = parse_service_url(
      "nacos://app:p%40ss%2F%25@a/shop%2Forders?namespace=blue&group=g&cluster=east&ip=10.0.0.1&port=7&"
      "grpc_port=9000&https=on&tls=on&tls_name=registry");
  EXPECT_EQ(url.client.credentials->username, "app");
  EXPECT_EQ(url.client.credentials->password, "p@ss/%");
  EXPECT_EQ(url.service, (ServiceName{"shop/orders", "g"}));
  EXPECT_EQ(url.client.name_space, "blue");
  EXPECT_EQ(url.cluster, "east");
  EXPECT_EQ(url.ip, "10.0.0.1");
  EXPECT_EQ(url.port, 7);
  EXPECT_EQ(grpc_target(url.client.servers.front()), "a:9000");
  EXPECT_TRUE(url.client.servers.front().https);
  EXPECT_EQ(url.client.tls->server_name, "registry");
}

TEST(NacosUrl, ThatIsWrongIsRefusedWithoutThePassword) {
  for (const auto& [rest, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"/orders", "the host is missing"},
           {"a", "no name after the host"},
           {"a/", "no name after the host"},
           {"a:x/orders", "the port must be a number"},
           {"a/orders?port=x", "port must be a number from 1 to 65535, not \"x\""},
           {"a/orders?tls=yes", "tls must be on or off, not \"yes\""},
           {"a/orders?tls_ca=/nowhere", "tls_… needs tls=on"},
           {"a/orders?tls=on&tls_ca=/nowhere", "no file /nowhere"},
           {"a/orders%4", "two hexadecimal digits"},
           {"a/orders?gruop=x", "did you mean \"group\"?"},
           {"a/orders?group=", "write name=value"},
       }) {
    const std::string said = refusal(std::string{"nacos://app:geheim@"} + rest);
    EXPECT_THAT(said, HasSubstr(why));
    EXPECT_THAT(said, HasSubstr("nacos://app@"));
    EXPECT_THAT(said, Not(HasSubstr("geheim")));
  }
  EXPECT_THAT(refusal("http://a/orders"), HasSubstr("does not begin with nacos://"));
}

TEST(NacosUrl, OfAConfigurationHasNoInstance) {
  EXPECT_EQ(parse_config_url("nacos://a/retry.yaml?group=shop").key, (ConfigKey{"retry.yaml", "shop"}));
  EXPECT_THROW(parse_config_url("nacos://a/retry.yaml?port=7"), std::invalid_argument);
}

}  // namespace
}  // namespace easyretry::nacos
