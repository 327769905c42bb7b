#pragma once

#include "service/service_options.h"

namespace easyretry::app {

// What `easyretry handlers` and the commands below it share.
struct HandlersOptions {
  ServiceOptions service;
  bool as_json = false;
};

}  // namespace easyretry::app
