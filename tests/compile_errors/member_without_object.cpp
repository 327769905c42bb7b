// expect: a member function needs its object; write retryable(name, &Type::method, &object)
#include <easyretry/easyretry.h>
using namespace easyretry;

struct Gateway {
  int pay(int);
};

int main() {
  Engine engine{"memory:"};
  auto pay = engine.retryable("pay", &Gateway::pay);
}
