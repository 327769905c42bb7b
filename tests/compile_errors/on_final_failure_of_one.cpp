// expect: write on_final_failure([](const Failure& failure, const TaskInfo& task)
#include <easyretry/easyretry.h>

void wrong(easyretry::Engine& engine) {
  auto pay = engine.retryable("pay", [](int) {});
  pay.on_final_failure([](const easyretry::Failure&) {});
}
