// expect: the types of the arguments are not known
// after: 1 other error
#include <easyretry/easyretry.h>
using namespace easyretry;

int main() {
  Engine engine{"memory:"};
  engine.retryable("pay", [](const auto&) {});
}
