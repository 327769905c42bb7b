#pragma once

#include <cstddef>
#include <string_view>

#include <easyretry/engine.h>

#include "bench/bench.h"

namespace easyretry::app {

EngineOptions engine_options(const BenchOptions& options);

// Returns when that many tasks have succeeded. How often it looks, 2 ms, is part of what is measured.
void wait_for(const Engine& engine, std::size_t succeeded, std::string_view what, const Progress& progress);

}  // namespace easyretry::app
