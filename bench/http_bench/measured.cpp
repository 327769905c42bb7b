#include <algorithm>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "http_bench/parts.h"

namespace easyretry::bench {

Spread spread_of(std::vector<double> millis) {
  std::sort(millis.begin(), millis.end());
  const auto at = [&](double part) {
    return millis[static_cast<std::size_t>(part * static_cast<double>(millis.size() - 1))];
  };
  return {at(0.5), at(0.99), millis.back()};
}

double median_of(std::vector<double> values) {
  return spread_of(std::move(values)).p50;
}

void print_table(const std::vector<Measured>& all) {
  for (const Measured& measured : all) {
    std::cout << measured.part << "\n";
    for (const Figure& figure : measured.figures) {
      std::cout << fmt::format("  {:<52}{:>12.2f} {}\n", figure.what, figure.value, figure.unit);
    }
    for (const Goal& goal : measured.goals) {
      std::cout << fmt::format("  {:<52}{:>12.2f} {} {:<8.4g} {}\n", goal.what, goal.measured,
                               goal.at_least ? "at least" : "at most ", goal.bound, goal.met() ? "met" : "MISSED");
    }
  }
}

void print_json(const std::vector<Measured>& all) {
  nlohmann::json report = nlohmann::json::object();
  for (const Measured& measured : all) {
    auto& part = report[measured.part];
    for (const Figure& figure : measured.figures) part[figure.name] = figure.value;
    for (const Goal& goal : measured.goals) {
      part["goals"][goal.name] = {
          {"measured", goal.measured}, {goal.at_least ? "at_least" : "at_most", goal.bound}, {"met", goal.met()}};
    }
  }
  std::cout << report.dump() << "\n";
}

bool all_met(const std::vector<Measured>& all) {
  return std::ranges::all_of(all,
                             [](const Measured& measured) { return std::ranges::all_of(measured.goals, &Goal::met); });
}

}  // namespace easyretry::bench
