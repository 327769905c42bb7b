// expect: the result of this handler has no JSON conversion
#include <easyretry/easyretry.h>
using namespace easyretry;
using namespace std::chrono_literals;

struct Receipt {
  int code;
};

int main() {
  Engine engine{"memory:"};
  engine.retryable(
      "pay", [](int) { return Receipt{200}; }, Policy{.backoff = Fixed{1s}});
}
