// A program with the package: an engine on SQLite runs a call.
#include <iostream>
#include <string>

#include <easyretry/easyretry.h>
using namespace easyretry;

int main() {
  Engine engine{"sqlite:test_package.db"};
  auto greet = engine.retryable("greet", [](const std::string& name) { return "hello " + name; });
  const auto greeting = greet("ann");
  std::cout << *greeting << "\n";
}
