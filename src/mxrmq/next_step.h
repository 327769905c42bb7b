#pragma once
// What becomes of a message that was not completed. Pure: by the rules that it carries, and a time.

#include <optional>

#include <easyretry/time.h>

#include "mxrmq/message.h"

namespace easyretry::mxrmq {

struct NextStep {
  std::optional<Millis> retry_after{};  // none: a dead letter
  Meta meta{};
};

// The handler threw. As Python: retryCount grows first, so maxRetries is the number of attempts, and the first failure
// waits retryDelays[0]. The last error stays in a dead letter, where Python overwrites it.
NextStep after_failure(Meta meta, std::string_view error, std::int64_t now);

// Whoever took it is gone. retryCount stays, and a first loss waits retryDelays[0]; lost more often than `most`, it is
// a dead letter: a message that kills its workers must not go round for ever.
NextStep after_loss(Meta meta, std::int64_t lost, std::int64_t most, std::int64_t now);

// Nobody took it within its time to live.
NextStep after_ageing(Meta meta, std::int64_t now);

// A dead letter starts again.
Meta requeued(Meta meta, std::int64_t now);

}  // namespace easyretry::mxrmq
