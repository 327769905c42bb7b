#pragma once
// Spans as a collector takes them: OTLP, the messages of opentelemetry-proto 1.x. Pure.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <easyretry/event.h>

namespace easyretry::trace {

// An ExportTraceServiceRequest. Text that is not UTF-8, which a collector would refuse with all the rest, is repaired.
std::string export_request(const std::vector<std::pair<std::string, std::string>>& resource,
                           std::span<const Span> spans);

// How many spans the collector did not take, by its ExportTraceServiceResponse. 0 if the body is not such a response.
std::uint64_t rejected_spans(std::string_view response);

}  // namespace easyretry::trace
