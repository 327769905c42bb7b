// Random sequences against the memory store as the model. A failure prints the shrunk sequence and how to run it again;
// RC_PARAMS="max_success=10000" runs longer.

#include "conformance/model_run.h"
#include "conformance/store_conformance.h"

namespace easyretry::test {
namespace {

TEST_P(StoreModel, RandomSequencesGiveTheAnswersOfTheModel) {
  Coverage coverage;
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const bool same = rc::check(test->test_suite_name(), [&] {  // by this name RC_PARAMS="reproduce=…" finds it again
    ModelRun run{GetParam(), *any_settings(), coverage};
    for (const Command& command : *any_commands()) run.run(command);
    run.compare_everything();
  });
  EXPECT_TRUE(same);

  for (const auto& row : task::transitions()) {
    const int times = coverage[{row.from, row.event}];
    EXPECT_GE(times, 3) << "the sequences hardly reach " << to_string(row.from) << " + " << to_string(row.event);
  }
}

}  // namespace
}  // namespace easyretry::test
