#pragma once
// Sends Redis commands as they are, without the store.

#include <memory>
#include <string>
#include <vector>

#include <hiredis.h>

#include "support/plain_sql.h"

namespace easyretry::test {

class PlainRedis {
 public:
  explicit PlainRedis(int port, const std::string& database = "0");
  // The answer, or the first of many, as a text. Throws SqlError.
  std::string run(const std::vector<std::string>& command);

 private:
  std::unique_ptr<redisContext, decltype(&redisFree)> context_;
};

}  // namespace easyretry::test
