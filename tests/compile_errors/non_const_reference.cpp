// expect: this handler takes a non-const reference
#include <easyretry/easyretry.h>
using namespace easyretry;

int main() {
  Engine engine{"memory:"};
  engine.retryable("pay", [](int& id) { ++id; });
}
