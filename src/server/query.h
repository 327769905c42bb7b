#pragma once
// The part of a request after the '?', or a filter in its body: strictly what is known, as a query for tasks.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/task_query.h>

#include "http/message.h"

namespace easyretry::server {

using Conditions = std::map<std::string, std::string>;

// For live tasks, or for history. Throws Refusal for an unknown name, with what was probably meant, or a bad value.
TaskQuery task_query(const Conditions& conditions, bool finished);

// Whether it says true. Throws Refusal for what is neither that nor false.
bool yes(const Conditions& conditions, const std::string& name);

// Throws Refusal for any name that is none of these.
void require_known(const Conditions& conditions, const std::vector<std::string_view>& known);
inline void require_known(const http::Request& request, const std::vector<std::string_view>& known) {
  require_known(request.target.query, known);
}

}  // namespace easyretry::server
