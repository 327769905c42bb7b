// Says how a program without any part refuses what needs one; see core_build_test.py.
#include <functional>
#include <iostream>

#include <easyretry/config.h>
#include <easyretry/easyretry.h>
using namespace easyretry;

void say(const std::function<void()>& attempt) {
  try {
    attempt();
    std::cout << "no refusal\n";
  } catch (const std::invalid_argument& refused) {
    std::cout << refused.what() << "\n";
  }
}

int main() {
  say([] { Engine{"redis+cluster://app:secret@cache:6379"}; });
  say([] { validate(EngineOptions{.membership = "nacos://app:secret@registry:8848/orders"}); });
  say([] { load_config("nacos://app:secret@registry:8848/shop.yaml", {}); });
  say([] { parse_config("workers: 8", "shop.yaml"); });
  say([] {
    Config config{.store = "memory:"};
    config.alerts.channels["ops"] = {.url = "https://hooks.example/secret"};
    Engine{config};
  });
}
