// The deterministic simulator.
//
//   sim [--seeds N] [--first S]      runs N seeds from S on; a violation is printed with its seed
//   sim --seed S                     replays one seed and prints everything that happens
//   sim --members …                  instances find each other, by lists that may be wrong, and share the shards
//   sim --store sqlite …             on a SQLite file that survives its processes, instead of in memory
//   sim --twice …                    runs every seed twice and compares the journals
//   sim --without GUARD --expect I3  for builds with a guard removed: succeeds when an invariant of that name breaks

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>
#include <string_view>

#include "sim/coverage.h"
#include "sim/guards_probe.h"
#include "sim/world.h"

namespace easyretry::sim {
namespace {

struct Arguments {
  std::uint64_t first = 1;
  std::uint64_t seeds = 1000;
  bool trace = false;
  bool twice = false;
  Sharing sharing = Sharing::told;
  StoreKind store = StoreKind::memory;
  std::string without;
  std::string expect;
};

[[noreturn]] void usage(const std::string& why) {
  std::cerr << why
            << "\nusage: sim [--members] [--store memory|sqlite] [--seeds N] [--first S] [--twice] | --seed S | "
               "--without GUARD --expect INVARIANT\n";
  std::exit(2);
}

StoreKind parse_store(const std::string& name) {
  if (name != "memory" && name != "sqlite") usage("a store is memory or sqlite, not " + name);
  return name == "sqlite" ? StoreKind::sqlite : StoreKind::memory;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const auto value = [&]() -> std::string {
      if (++i == argc) usage(std::string{flag} + " needs a value");
      return argv[i];
    };
    if (flag == "--seeds") {
      arguments.seeds = std::stoull(value());
    } else if (flag == "--first") {
      arguments.first = std::stoull(value());
    } else if (flag == "--seed") {
      arguments.first = std::stoull(value());
      arguments.seeds = 1;
      arguments.trace = true;
    } else if (flag == "--twice") {
      arguments.twice = true;
    } else if (flag == "--members") {
      arguments.sharing = Sharing::found;
    } else if (flag == "--store") {
      arguments.store = parse_store(value());
    } else if (flag == "--without") {
      arguments.without = value();
    } else if (flag == "--expect") {
      arguments.expect = value();
    } else {
      usage("unknown: " + std::string{flag});
    }
  }
  return arguments;
}

void print(std::uint64_t seed, const Violation& violation, const World& world, StoreKind store) {
  std::cout << "seed " << seed << ": " << violation.invariant << " broken: task " << to_string(violation.id) << " "
            << violation.what << "\n";
  for (const Entry& entry : world.journal().entries()) {
    if (entry.at > violation.at) break;
    if (task_of(entry) == violation.id) std::cout << "    " << to_text(entry) << "\n";
  }
  std::cout << "  replay: sim " << (world.scenario().sharing == Sharing::found ? "--members " : "")
            << (store == StoreKind::sqlite ? "--store sqlite " : "") << "--seed " << seed << "\n";
}

int run_seeds(const Arguments& arguments) {
  const auto began = std::chrono::steady_clock::now();
  Coverage coverage;
  int failures = 0;
  for (std::uint64_t seed = arguments.first; seed < arguments.first + arguments.seeds; ++seed) {
    World world{seed, arguments.sharing, arguments.store};
    if (arguments.trace) {
      std::cout << to_text(world.scenario());
      world.journal().on_entry = [](const Entry& entry) { std::cout << to_text(entry) << "\n"; };
    }
    world.run();
    add_coverage(coverage, world.journal().entries(), world.plans());
    coverage["events"] += world.events();
    const auto violations = world.violations();
    if (!violations.empty()) {
      ++failures;
      print(seed, violations.front(), world, arguments.store);
      if (arguments.trace) {
        for (const auto& v : violations) std::cout << v.invariant << " " << to_string(v.id) << " " << v.what << "\n";
      }
    }
    if (arguments.twice) {
      World again{seed, arguments.sharing, arguments.store};
      again.run();
      if (again.journal().hash() != world.journal().hash()) {
        ++failures;
        std::cout << "seed " << seed << " does not replay: two runs differ\n";
      }
    }
    if (failures >= 10) break;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  for (const auto& [what, times] : coverage)
    std::printf("%10llu  %s\n", static_cast<unsigned long long>(times), what.c_str());
  std::printf("%llu seeds, %d with violations, %.1f s\n", static_cast<unsigned long long>(arguments.seeds), failures,
              took.count());
  const std::string missing =
      arguments.trace || arguments.seeds < 100 ? "" : missing_coverage(coverage, arguments.seeds);
  if (!missing.empty()) std::cout << "too little was tried:" << missing << "\n";
  return failures == 0 && missing.empty() ? 0 : 1;
}

int expect_violation(const Arguments& arguments) {
  for (std::uint64_t seed = arguments.first; seed < arguments.first + arguments.seeds; ++seed) {
    World world{seed, arguments.sharing, arguments.store};
    world.run();
    const auto violations = world.violations();
    const auto expected = std::find_if(violations.begin(), violations.end(),
                                       [&](const Violation& v) { return v.invariant == arguments.expect; });
    if (expected == violations.end()) continue;
    print(seed, *expected, world, arguments.store);
    std::set<std::string> all;
    for (const Violation& violation : violations) all.insert(violation.invariant);
    std::cout << "caught: without " << arguments.without << ", seed " << seed << " breaks " << arguments.expect
              << "; broken in this run:";
    for (const std::string& invariant : all) std::cout << " " << invariant;
    std::cout << "\n";
    return 0;
  }
  std::cout << "NOT caught: " << arguments.seeds << " seeds without " << arguments.without << ", and "
            << arguments.expect << " holds\n";
  return 1;
}

}  // namespace
}  // namespace easyretry::sim

int main(int argc, char** argv) {
  using namespace easyretry::sim;
  const Arguments arguments = parse(argc, argv);
  const std::string missing = missing_guards();
  if (missing != arguments.without) {
    std::cout << "this build lacks the guard \"" << missing << "\", not \"" << arguments.without << "\"\n";
    return 2;
  }
  return arguments.without.empty() ? run_seeds(arguments) : expect_violation(arguments);
}
