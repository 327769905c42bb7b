// expect: a parameter of this handler has no JSON conversion
#include <easyretry/easyretry.h>
using namespace easyretry;

struct Order {
  int id;
};

int main() {
  Engine engine{"memory:"};
  engine.retryable("pay", [](const Order&) {});
}
