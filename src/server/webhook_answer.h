#pragma once
// What the answer of a webhook's receiver means for the task. Pure.

#include <easyretry/handler.h>

#include "webhook/call.h"

namespace easyretry::server {

// 2xx is for success_when to judge; 410 says that it is no use; everything else is tried again, when the receiver says
// so.
detail::Reply judged_by_status(const webhook::Answer& answer);

}  // namespace easyretry::server
