// expect: success_when takes the result alone and returns bool
#include <easyretry/easyretry.h>
using namespace easyretry;

int main() {
  Engine engine{"memory:"};
  engine.retryable(
      "pay", [](int) { return 200; }, Policy{.success_when = [](int code, int id) { return code == id; }});
}
