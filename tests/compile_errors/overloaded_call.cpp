// expect: the types of the arguments are not known
#include <easyretry/easyretry.h>
using namespace easyretry;

struct Pay {
  void operator()(int) const {}
  void operator()(double) const {}
};

int main() {
  Engine engine{"memory:"};
  engine.retryable("pay", Pay{});
}
