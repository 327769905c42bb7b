#pragma once
// Which names a queue goes by.

#include "mxrmq/keys.h"
#include "mxrmq/queue_url.h"
#include "storage/redis/connection.h"

namespace easyretry::mxrmq {

// Those that the url says or, without a word there, of whichever generation there is something; gen2 where there is
// nothing. Throws StoreError where there is something of two, or another thing under a name, and where the server
// cannot be worked with; ServerError where it cannot be asked.
Keys detect_keys(storage::redis::Connection& connection, const QueueOptions& options);

}  // namespace easyretry::mxrmq
