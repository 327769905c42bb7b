#pragma once

#include <memory>

#include <easyretry/config.h>

#include "service/service.h"

namespace easyretry::app {

// Straight on the store that the configuration names, in the namespace of its engine. Makes no tables. Throws what says
// why it cannot be.
std::unique_ptr<Service> open_local_service(const Config& config);

}  // namespace easyretry::app
