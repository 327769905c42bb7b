#pragma once
// The HTTP naming API of the fake Nacos. For one thread at a time.

#include <map>
#include <string>

#include "fake_nacos/fake_http.h"
#include "fake_nacos/fake_services.h"

namespace easyretry::test {

class FakeHttpNaming {
 public:
  // Has the API v1 or v3.
  FakeHttpNaming(FakeServices& services, std::string dialect) : services_(services), dialect_(std::move(dialect)) {}

  FakeHttp::Answer answer(const FakeHttp::Seen& seen);
  void forget_instances();

  std::string token{};  // the required token; empty: none

 private:
  using Fields = std::map<std::string, std::string>;
  FakeHttp::Answer change(const FakeHttp::Seen& seen, const Fields& fields);
  FakeHttp::Answer beat(const Fields& fields) const;
  FakeHttp::Answer list(const Fields& fields) const;

  FakeServices& services_;
  const std::string dialect_;
};

}  // namespace easyretry::test
