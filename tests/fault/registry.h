#pragma once
// A service of a real Nacos in which a crew meets, and its list as others see it.

#include <string>

#include "cluster/nacos/nacos_metadata.h"
#include "fault/shares.h"
#include "nacos/naming_client.h"
#include "nacos/real_nacos.h"

namespace easyretry::fault {

class Registry {
 public:
  explicit Registry(int port) : port_(port), witness_(test::options_for(port)) {}

  std::string url(const std::string& options = {}) const { return url_at("127.0.0.1", port_, options); }
  // The same by another way.
  std::string url_at(const std::string& host, int port, const std::string& options) const {
    return "nacos://nacos:nacos@" + host + ":" + std::to_string(port) + "/" + service_.name + options;
  }
  // Nothing while it does not answer.
  std::vector<Member> members() {
    const auto view = witness_.query(service_);
    return view ? cluster::read_members(*view, {"default", kShards}).members : std::vector<Member>{};
  }

 private:
  const int port_;
  const nacos::ServiceName service_{test::unique_name()};
  nacos::NamingClient witness_;
};

}  // namespace easyretry::fault
