// expect: EASYRETRY_JSON(shop::Order, ...) must be in the namespace of its type; move it next to the type
#include <easyretry/easyretry.h>
using namespace easyretry;

namespace shop {
struct Order {
  int id;
};
}  // namespace shop
EASYRETRY_JSON(shop::Order, id)

int main() {
  Engine engine{"memory:"};
  engine.retryable("pay", [](const shop::Order&) {});
}
