// expect: the policy comes before the options: retryable(name, function, policy, options)
#include <easyretry/easyretry.h>
using namespace easyretry;
using namespace std::chrono_literals;

int main() {
  Engine engine{"memory:"};
  engine.retryable(
      "pay", [](int) {}, HandlerOptions{.timeout = 5s}, Policy{.backoff = Fixed{1s}});
}
