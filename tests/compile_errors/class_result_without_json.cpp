// expect: on_success of this RetryableTask is given its result, which has no JSON conversion
#include <easyretry/easyretry.h>
using namespace easyretry;

struct Receipt {
  int code;
};
class Pay : public RetryableTask<Receipt(int)> {
  Receipt execute(const int&) override { return {200}; }
};

int main() {
  Engine engine{"memory:"};
  auto pay = engine.retryable("pay", std::make_shared<Pay>());
}
