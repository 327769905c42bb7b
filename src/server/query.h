#pragma once
// The part of a request after the '?': strictly what is known, as a filter of tasks.

#include <easyretry/task_query.h>

#include "http/message.h"

namespace easyretry::server {

// For live tasks, or for history. Throws Refusal for an unknown name, with what was probably meant, or a bad value.
TaskQuery task_query(const http::Request& request, bool finished);

// Throws Refusal for any name that is none of these.
void require_known(const http::Request& request, const std::vector<std::string_view>& known);

}  // namespace easyretry::server
