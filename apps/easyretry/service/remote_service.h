#pragma once

#include <memory>

#include "remote/daemon_address.h"
#include "service/service.h"

namespace easyretry::app {

// A daemon. Throws std::invalid_argument for an address that is none, or one to which a token would travel in the open.
std::unique_ptr<Service> open_remote_service(remote::DaemonAddress daemon);

}  // namespace easyretry::app
