// expect: this handler returns a reference; return a value
#include <easyretry/easyretry.h>
using namespace easyretry;

const std::string& name_of(int id);

int main() {
  Engine engine{"memory:"};
  auto find = engine.retryable("find", name_of);
}
