// expect: this handler returns nothing to pass on
#include <easyretry/easyretry.h>
using namespace easyretry;

int main() {
  Engine engine{"memory:"};
  auto pay = engine.retryable("pay", [](int) {});
  pay.on_success([](int, const TaskInfo&) {});
}
