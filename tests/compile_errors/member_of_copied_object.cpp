// expect: the object of a member function is not copied; give its address
#include <easyretry/easyretry.h>
using namespace easyretry;

struct Gateway {
  int pay(int) const;
};

int main() {
  Engine engine{"memory:"};
  Gateway gateway;
  engine.retryable("pay", &Gateway::pay, gateway);
}
