#pragma once
// Decides what happens to a message that was not completed. Pure: depends only on the rules in the message and a time.

#include <optional>

#include <easyretry/handler.h>
#include <easyretry/time.h>

#include "mxrmq/message.h"

namespace easyretry::mxrmq {

struct NextStep {
  std::optional<Millis> retry_after{};  // nullopt: a dead letter
  Meta meta{};
};

// The handler threw, which is a retry_later, or answered that it failed. As in Python, retryCount is incremented first,
// so maxRetries is the number of attempts, and the first failure waits retryDelays[0], unless the answer names a delay.
// A dead letter keeps the last error, which Python overwrites.
NextStep after_failure(Meta meta, const Answer& answer, std::int64_t now);

// The worker that took it is gone. retryCount stays, and a first loss waits retryDelays[0]. If it was lost more than
// `most` times it becomes a dead letter: a message that kills its workers must not run forever.
NextStep after_loss(Meta meta, std::int64_t lost, std::int64_t most, std::int64_t now);

// No worker took it within its time to live.
NextStep after_ageing(Meta meta, std::int64_t now);

// A dead letter becomes a message again.
Meta requeued(Meta meta, std::int64_t now);

}  // namespace easyretry::mxrmq
