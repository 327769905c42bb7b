// expect: the policy comes before the options: retryable(name, function, policy, options)
#include <easyretry/easyretry.h>
using namespace easyretry;
using namespace std::chrono_literals;

struct Gateway {
  void pay(int) {}
};

int main() {
  Gateway gateway;
  Engine engine{"memory:"};
  const Policy policy{.backoff = Fixed{1s}};
  engine.retryable("pay", &Gateway::pay, &gateway, HandlerOptions{.timeout = 5s}, policy);
}
