#pragma once

#include <memory>

#include "remote/connection.h"
#include "service/service.h"

namespace easyretry::app {

// A daemon. Throws std::invalid_argument for an address that is none, or one to which a token would travel in the open.
std::unique_ptr<Service> open_remote_service(remote::DaemonAddress daemon);

// The address as it may be used. Throws std::invalid_argument as above.
remote::DaemonAddress checked_option(remote::DaemonAddress daemon);

// What a daemon has said. Throws Refused, or std::runtime_error where it is none.
nlohmann::json answer_of(const remote::DaemonAddress& daemon, int status, const std::string& body);

// Why nothing was heard of it, for people.
std::string no_answer_text(const remote::DaemonAddress& daemon, const remote::NoAnswer& none);

}  // namespace easyretry::app
