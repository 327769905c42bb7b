#pragma once

#include "unit/call/support.h"

namespace easyretry::test {

struct EngineTest : ::testing::Test {
  ManualEngine engine{quiet()};
  int calls = 0;
};

}  // namespace easyretry::test
