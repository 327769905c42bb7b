// expect: this type has no JSON conversion
#include <easyretry/easyretry.h>
using namespace easyretry;

struct Address {
  std::string city;
};
struct Order {
  Address to;
};
EASYRETRY_JSON(Order, to)

int main() {
  Engine engine{"memory:"};
  engine.retryable("pay", [](const Order&) {});
}
