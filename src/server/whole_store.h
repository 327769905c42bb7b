#pragma once
// For what is of the store as a whole, and not of one namespace.

#include <string>

#include "server/call.h"

namespace easyretry::server {

// Throws Refusal for a token of one namespace; `role` is the least one that a token of all of them needs.
void require_all_namespaces(const Call& call, const std::string& role);

}  // namespace easyretry::server
