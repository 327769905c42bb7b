// expect: the types of the arguments are not known
#include <easyretry/easyretry.h>
using namespace easyretry;

int main() {
  Engine engine{"memory:"};
  engine.retryable("pay", [](const auto&) {});
}
