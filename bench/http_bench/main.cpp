// The HTTP API and webhooks of a real daemon under load, compared with their goals.
//
//   build/release/bench/http_bench                 all parts; 5,000,000 rows of history take some minutes and 3 GB
//   build/release/bench/http_bench --only post     or bodies, idle, webhooks, list; can be repeated
//
// docs/benchmarks.md has the results. The exit status is 1 if a goal is missed.

#include <algorithm>
#include <filesystem>
#include <iostream>

#include <CLI/CLI.hpp>
#include <sys/resource.h>

#include "http_bench/parts.h"
#include "support/temp_folder.h"

namespace easyretry::bench {
namespace {

struct Options {
  std::vector<std::string> only;
  std::filesystem::path program;
  std::filesystem::path folder = std::filesystem::temp_directory_path();
  bool as_json = false;
  PostOptions post;
  std::size_t idle_connections = 10'000;
  WebhookOptions webhooks;
  ListOptions list;
  BodyOptions bodies;

  bool wants(std::string_view part) const { return only.empty() || std::ranges::count(only, part) > 0; }
};

// For many connections, also in the daemon, which inherits the limit.
void allow_many_files() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

std::filesystem::path program_beside_us() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() / "easyretry";
}

std::vector<Measured> measure(const Options& options) {
  std::vector<Measured> all;
  const auto run = [&](std::string_view part, auto measure_it) {
    if (!options.wants(part)) return;
    const test::TempFolder folder{options.folder};  // an empty one for each part
    const auto progress = [&](std::string_view what) { std::cerr << part << ": " << what << "…\n"; };
    all.push_back(measure_it(Setting{options.program, folder.path(), progress}));
  };
  run("post", [&](const Setting& setting) { return measure_post(setting, options.post); });
  run("bodies", [&](const Setting& setting) { return measure_bodies(setting, options.bodies); });
  run("idle", [&](const Setting& setting) { return measure_idle(setting, options.idle_connections); });
  run("webhooks", [&](const Setting& setting) { return measure_webhooks(setting, options.webhooks); });
  run("list", [&](const Setting& setting) { return measure_list(setting, options.list); });
  return all;
}

void add_options(CLI::App& app, Options& options) {
  app.add_option("--only", options.only, "This part; can be repeated")
      ->check(CLI::IsMember({"post", "bodies", "idle", "webhooks", "list"}));
  app.add_option("--program", options.program, "The program to measure")->capture_default_str();
  app.add_option("--folder", options.folder, "Where temporary folders are created: on the disk to measure")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  app.add_flag("--json", options.as_json, "One JSON object instead of a table");
  const auto number = [&](const char* name, auto& value, const char* what) {
    app.add_option(name, value, what)->check(CLI::Range(1, 100'000'000))->capture_default_str();
  };
  number("--connections", options.post.connections, "post: connections, and threads of the library");
  number("--tasks", options.post.tasks, "post: tasks per round");
  number("--rounds", options.post.rounds, "post: rounds");
  number("--senders", options.bodies.senders, "bodies: connections that send long bodies");
  number("--bodies", options.bodies.rounds, "bodies: of each kind and size, from each sender");
  number("--idle-connections", options.idle_connections, "idle: connections");
  number("--at-once", options.webhooks.at_once, "webhooks: calls at a time");
  number("--waves", options.webhooks.waves, "webhooks: how many times that many calls");
  number("--rows", options.list.rows, "list: tasks that have ended");
  app.add_option("--history", options.list.history, "list: a file to fill, or to use if it exists; it is kept");
  number("--requests", options.list.requests, "list: requests of each kind");
}

}  // namespace
}  // namespace easyretry::bench

int main(int argc, char** argv) {
  using namespace easyretry::bench;
  CLI::App app{"Measures the HTTP API and webhooks of a real daemon"};
  Options options;
  options.program = program_beside_us();
  add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    allow_many_files();
    const auto all = measure(options);
    options.as_json ? print_json(all) : print_table(all);
    return all_met(all) ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << "http_bench: " << e.what() << "\n";
    return 2;
  }
}
