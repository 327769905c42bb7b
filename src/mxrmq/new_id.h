#pragma once

#include <string>

namespace easyretry::mxrmq {

// A random UUID, as Python makes them for messages.
std::string new_id();

}  // namespace easyretry::mxrmq
