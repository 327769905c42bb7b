// expect: the result is kept for on_success
#include <easyretry/easyretry.h>
using namespace easyretry;

struct Receipt {
  int code;
};

int main() {
  Engine engine{"memory:"};
  auto pay = engine.retryable("pay", [](int) { return Receipt{200}; });
  pay.on_success([](const Receipt&, const TaskInfo&) {});
}
