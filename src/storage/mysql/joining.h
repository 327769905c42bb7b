#pragma once

#include "storage/mysql/connection.h"

namespace easyretry::storage::mysql {

// Somebody else's connection. Throws server::Refusal where our statements would mean something else on it; it is asked,
// and left as it is.
Connection join(MYSQL* theirs);

}  // namespace easyretry::storage::mysql
