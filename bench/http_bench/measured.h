#pragma once
// What a part of the benchmark has measured, and whether that is good enough.

#include <string>
#include <vector>

namespace easyretry::bench {

struct Figure {
  std::string name;  // its key in JSON: "rate_per_s"
  std::string what;  // for people
  double value = 0;
  std::string unit{};
};

struct Goal {
  std::string name;
  std::string what;
  double measured = 0;
  double bound = 0;
  bool at_least = false;  // otherwise at most

  bool met() const { return at_least ? measured >= bound : measured <= bound; }
};

struct Measured {
  std::string part;
  std::vector<Figure> figures{};
  std::vector<Goal> goals{};
};

// Milliseconds.
struct Spread {
  double p50 = 0, p99 = 0, max = 0;
};
Spread spread_of(std::vector<double> millis);  // of at least one
double median_of(std::vector<double> values);  // of at least one

void print_table(const std::vector<Measured>& all);
void print_json(const std::vector<Measured>& all);
bool all_met(const std::vector<Measured>& all);

}  // namespace easyretry::bench
