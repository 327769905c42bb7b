// expect: the result of this handler has no JSON conversion
#include <easyretry/easyretry.h>
using namespace easyretry;

struct Receipt {
  int code;
};
struct Gateway {
  Receipt pay(int);
};

int main() {
  Engine engine{"memory:"};
  Gateway gateway;
  engine.retryable("pay", &Gateway::pay, &gateway, {.success_when = "result.code == 200"});
}
