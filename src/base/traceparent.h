#pragma once
// The traceparent of W3C Trace Context: 00-<32 digits: trace>-<16 digits: span>-<2 digits: flags>, in lower-case hex.

#include <optional>
#include <string_view>

namespace easyretry::base {

// Views of the text that was read.
struct Traceparent {
  std::string_view trace;
  std::string_view span;
  bool sampled = false;  // the submitter records this trace
};

// Nullopt: it does not have this form, or one of its ids is all zeros.
std::optional<Traceparent> read_traceparent(std::string_view text);

}  // namespace easyretry::base
