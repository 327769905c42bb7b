// expect: no error
#include <easyretry/easyretry.h>
using namespace easyretry;

struct Order {
  int id;
};
EASYRETRY_JSON(Order, id)

int main() {
  Engine engine{"memory:"};
  auto pay = engine.retryable(
      "pay", [](const Order&) { return 200; }, Policy{.success_when = [](int code) { return code == 200; }});
  pay.on_success([](int, const TaskInfo&) {});
}
