#pragma once
// Looks for slow inputs: those that take much longer than a plain one of the same size. No client may delay others by
// what it sends.

#include <algorithm>
#include <string>

#include <time.h>

#include "fuzz/fuzz.h"

namespace easyretry::fuzz {

// Less than this is harmless, and within the noise.
constexpr double kShortSeconds = 0.01;
constexpr double kMostOfPlain = 10;
constexpr int kTries = 10;

// Of all threads, because some pass their input to others. Waiting does not count.
inline double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <class Run>
double seconds_of(Run run, std::string_view input) {
  const double begin = processor_time();
  run(input);
  return processor_time() - begin;
}

// Runs the input and, if that took long, compares it with plain(size). On a busy machine a measurement may be too long,
// but never too short, so both are repeated.
template <class Run, class Plain>
void run_at_pace(std::string_view input, Run run, Plain plain) {
  double took = seconds_of(run, input);
  if (took < kShortSeconds) return;
  const std::string other = plain(input.size());
  double usual = seconds_of(run, other);
  for (int i = 0; i < kTries; ++i) {
    took = std::min(took, seconds_of(run, input));
    usual = std::min(usual, seconds_of(run, other));
    if (took < kShortSeconds || took <= kMostOfPlain * usual) return;
  }
  std::fprintf(stderr, "%.1f ms, and %.1f of a plain input of %zu bytes\n", took * 1e3, usual * 1e3, input.size());
  must(false, "an input does not take much longer than a plain one of its size");
}

// Repeats `piece` between a beginning and an end, up to `size` bytes or a little less, but at least once. Each # in it
// becomes the number of the piece.
inline std::string repeated(std::string_view begin, std::string_view piece, std::string_view end, std::size_t size) {
  std::string text{begin};
  for (std::size_t i = 0; i == 0 || text.size() + piece.size() + end.size() < size; ++i) {
    for (const char c : piece) c == '#' ? text.append(std::to_string(i)) : text.append(1, c);
  }
  return text.append(end);
}

}  // namespace easyretry::fuzz
