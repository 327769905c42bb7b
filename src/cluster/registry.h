#pragma once
// A registry outside the store, in which instances find each other: nacos://user:password@host:8848/service

#include <memory>
#include <string>
#include <string_view>

#include <easyretry/options.h>
#include <easyretry/time.h>

#include "base/part.h"
#include "base/result.h"
#include "cluster/membership.h"

namespace easyretry::cluster {

// Values that all members share. An instance with other values works on other tasks.
struct SharedSettings {
  std::string name_space;
  int total_shards = 0;
};

struct MembersReport {
  MemberList list;
  std::string source;  // for display: "store", "nacos 10.0.0.7:8848, DEFAULT_GROUP@@orders"
  Millis age{};        // since the source returned the list
  TimePoint now{};     // on the clock of the members' `since`
};

class Registry {
 public:
  virtual ~Registry() = default;
  // Connects later, when it is used. Without a log, problems go to stderr.
  virtual std::unique_ptr<Membership> join(SharedSettings settings, std::string node, LogSink log) const = 0;
  // Reads the members without joining. Takes 10 s at most.
  virtual Result<MembersReport> list(const SharedSettings& settings) const = 0;
};

struct RegistryPart {
  // Throws std::invalid_argument that says what is wrong with the url, without its password.
  std::shared_ptr<const Registry> (*open)(std::string_view url);
};

extern "C" EASYRETRY_OPTIONAL const RegistryPart* easyretry_nacos_registry();

}  // namespace easyretry::cluster
