// The network of the fault lab: lab_network SERVER_PORT MEMBERS
//
// A CuttingProxy for each member. Prints their ports in one line, then obeys orders on stdin, one a line, and answers
// each with a line when it is in force:
//
//   2 freeze                   nothing passes between member 2 and the server
//   2 freeze to_server         … in this direction; to_client is the other
//   2 lose_replies 0.3         this part of the replies is lost after the server has done its work
//   2 cut                      all its connections
//   2 heal

#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "support/cutting_proxy.h"

using easyretry::test::CuttingProxy;
using easyretry::test::Direction;

namespace {

void obey(CuttingProxy& network, const std::string& order, const std::string& how) {
  if (order == "freeze" && how.empty()) network.freeze();
  if (order == "freeze" && how == "to_server") network.freeze(Direction::to_server);
  if (order == "freeze" && how == "to_client") network.freeze(Direction::to_client);
  if (order == "lose_replies") network.lose_replies(std::stod(how));
  if (order == "cut") network.cut_all();
  if (order == "heal") {
    network.thaw();
    network.lose_replies(0);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: lab_network SERVER_PORT MEMBERS\n";
    return 2;
  }
  std::vector<std::unique_ptr<CuttingProxy>> networks;
  for (int member = 0; member < std::stoi(argv[2]); ++member) {
    networks.push_back(std::make_unique<CuttingProxy>(std::stoi(argv[1]), member + 1));
    std::cout << (member > 0 ? " " : "") << networks.back()->port();
  }
  std::cout << std::endl;
  for (std::string text; std::getline(std::cin, text);) {
    std::istringstream words{text};
    std::size_t member = 0;
    std::string order, how;
    words >> member >> order >> how;
    obey(*networks.at(member), order, how);
    std::cout << "done" << std::endl;
  }
  return 0;
}
