#pragma once
// The engine of a running application: on the machine's clock, with threads.

#include <memory>

#include "call/engine_impl.h"

namespace easyretry::call {

std::shared_ptr<detail::EngineImpl> threaded_engine(std::shared_ptr<storage::Store> store, const Config& config,
                                                    ExceptionNames names);

}  // namespace easyretry::call
