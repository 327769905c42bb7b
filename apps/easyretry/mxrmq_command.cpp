#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "commands.h"
#include "mxrmq/fsck.h"
#include "mxrmq/import.h"
#include "printing/terminal.h"
#include "storage/open.h"

namespace easyretry::app {
namespace {

constexpr int kFoundSomething = 3;  // exit status
constexpr const char* kQueueUrl = "mxrmq://user:password@host:6379/0?prefix=…";

struct FsckArguments {
  std::string queue;
  bool repair = false;
  double grace = 5;
};

void run_fsck(const FsckArguments& arguments) {
  mxrmq::FsckOptions options;
  options.repair = arguments.repair;
  options.grace = Millis{static_cast<std::int64_t>(arguments.grace * 1000)};
  options.tell = [](const mxrmq::Finding& found) {
    fmt::print("{}: {}{}\n", to_string(found.kind), printable(found.id),
               printable(found.topic.empty() ? "" : " of " + found.topic));
  };
  mxrmq::FsckReport report;
  {
    const ProgressBar bar;
    options.progress = [&](std::int64_t done, std::int64_t all) {
      bar.show(done, all, fmt::format("{} messages", done));
    };
    report = mxrmq::fsck(arguments.queue, options);
  }
  const bool left = report.findings > 0 && !arguments.repair;
  fmt::print("{} messages, {} findings{}\n", report.messages, report.findings,
             left                  ? "; --repair fixes them"
             : report.findings > 0 ? ", repaired"
                                   : "");
  if (left) throw CLI::RuntimeError{kFoundSomething};
}

struct ImportArguments {
  std::string queue;
  std::string store;
  std::string name_space = "default";
  bool dry_run = false;
  bool dead_letters = false;
};

void print(const mxrmq::ImportPlan& plan, bool with_letters) {
  for (const auto& [topic, count] : plan.pending) fmt::print("{}: {} pending\n", printable(topic), count);
  fmt::print("{} delayed, in all topics\n", plan.delayed);
  if (plan.in_flight > 0)
    fmt::print("about {} in flight, which stay until they end or their lease expires\n", plan.in_flight);
  if (plan.dead > 0) {
    fmt::print("{} dead letters{}\n", plan.dead, with_letters ? "" : ", which stay; --dead-letters moves them too");
  }
}

void print(const mxrmq::ImportReport& report) {
  fmt::print("{} messages moved", report.moved);
  if (report.unreadable > 0) fmt::print(", {} unreadable ones set aside", report.unreadable);
  if (report.letters.moved > 0) fmt::print(", {} dead letters moved", report.letters.moved);
  if (report.letters.left > 0) {
    fmt::print(", {} left that are unreadable or whose id is the key of a live task", report.letters.left);
  }
  fmt::print("; run it again for messages that were in flight\n");
}

void run_import(const ImportArguments& arguments) {
  const mxrmq::ImportPlan plan = mxrmq::plan_import(arguments.queue);
  print(plan, arguments.dead_letters);
  if (arguments.dry_run) {
    fmt::print("nothing was changed\n");
    return;
  }
  const auto store = storage::open_store(arguments.store, system_clock());
  mxrmq::ImportReport report;
  {
    const ProgressBar bar;
    mxrmq::ImportOptions options;
    options.name_space = arguments.name_space;
    options.dead_letters = arguments.dead_letters;
    options.progress = [&](std::int64_t moved) {
      bar.show(moved, plan.to_be_moved(), fmt::format("{} messages moved", moved));
    };
    options.letter_progress = [&](std::int64_t moved) {
      bar.show(moved, plan.dead, fmt::format("{} dead letters moved", moved));
    };
    report = mxrmq::run_import(arguments.queue, *store, options);
  }
  print(report);
}

void add_fsck(CLI::App& parent) {
  auto* command = parent.add_subcommand("fsck", "Finds inconsistencies left by workers that died at the wrong moment");
  auto arguments = std::make_shared<FsckArguments>();
  command->add_option("--queue", arguments->queue, kQueueUrl)->required();
  command->add_flag("--repair", arguments->repair,
                    "Repair them: orphans become pending again, duplicates and leftovers are removed");
  command->add_option("--grace", arguments->grace, "Seconds for which a message must stay orphaned to be reported")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3600.0));
  command->footer("Works in slices, while workers run. Exits with 3 if it found something and did not repair it.");
  command->callback([arguments] { run_fsck(*arguments); });
}

void add_import(CLI::App& parent) {
  auto* command = parent.add_subcommand("import", "Moves messages into a store, as tasks");
  auto arguments = std::make_shared<ImportArguments>();
  command->add_option("--queue", arguments->queue, kQueueUrl)->required();
  command->add_option("--store", arguments->store, "The target store, with the same options as the instances use")
      ->required();
  command->add_option("--namespace", arguments->name_space, "The namespace of the instances")->capture_default_str();
  command->add_flag("--dead-letters", arguments->dead_letters,
                    "Also dead letters: as failed tasks in history, from where they can be requeued");
  command->add_flag("--dry-run", arguments->dry_run, "Only show what would be moved");
  command->footer("Can be interrupted at any time; the same command continues.");
  command->callback([arguments] { run_import(*arguments); });
}

}  // namespace

void add_mxrmq_command(CLI::App& app) {
  auto* command = app.add_subcommand("mxrmq", "Works on a queue of mx-rmq, the Python queue on Redis");
  command->require_subcommand(1);
  add_fsck(*command);
  add_import(*command);
}

}  // namespace easyretry::app
