// parts URL…: opens a store for each URL, and says whether this program has the part for it; see install_test.py.
#include <iostream>

#include <easyretry/easyretry.h>
#include <easyretry/version.h>

int main(int argc, char** argv) {
  std::cout << EASYRETRY_VERSION << "\n";
  for (int i = 1; i < argc; ++i) {
    try {
      easyretry::Engine{argv[i]};
      std::cout << "opened " << argv[i] << "\n";
    } catch (const easyretry::StoreError&) {
      std::cout << "no server " << argv[i] << "\n";
    } catch (const std::invalid_argument& refused) {
      std::cout << "refused " << refused.what() << "\n";
    }
  }
}
