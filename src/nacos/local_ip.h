#pragma once

#include <string>

#include "nacos/server_address.h"

namespace easyretry::nacos {

// The address of this machine that the server would see, if nothing between them changes it; 127.0.0.1 where there is
// no way to it. Sends nothing and asks no name server: for a host that is a name, it is the address towards the world.
std::string local_ip_towards(const ServerAddress& server);

}  // namespace easyretry::nacos
