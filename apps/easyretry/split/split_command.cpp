#include "split/split_command.h"

#include <map>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "progress_bar.h"
#include "storage/layout.h"
#include "storage/open.h"

namespace easyretry::app {
namespace {

using storage::SplitMove;

struct SplitOptions {
  std::string store;
  int to = 0;
  bool dry_run = false;
};

class Progress {
 public:
  explicit Progress(const std::vector<SplitMove>& plan) : moves_(plan.size()) {
    for (const SplitMove& move : plan) expected_ += move.rows;
  }

  void tell(const SplitMove& move) {
    moved_[move.to] = move.rows;
    std::int64_t rows = 0;
    for (const auto& [table, count] : moved_) rows += count;
    bar_.show(rows, expected_, fmt::format("table {} of {}, {} tasks moved", moved_.size(), moves_, rows));
  }

 private:
  ProgressBar bar_;
  const std::size_t moves_;
  std::int64_t expected_ = 0;
  std::map<std::string, std::int64_t> moved_;
};

std::vector<SplitMove> must(Result<std::vector<SplitMove>> plan) {
  if (!plan) throw StoreError{plan.error()};
  return *std::move(plan);
}

// Of a split that has been done, the url may still have the layout before.
bool is_done(const SplitOptions& options) {
  const auto there = storage::stored_settings(options.store);
  return there && there->layout == to_text(storage::Layout::hash(options.to));
}

void run(const SplitOptions& options) {
  if (is_done(options)) {
    fmt::print("the layout is hash({}) already; nothing was changed\n", options.to);
    return;
  }
  const auto store = storage::open_store(options.store, system_clock());
  const auto plan = must(store->split({.tables = options.to, .only_plan = true}));
  for (const SplitMove& move : plan) {
    fmt::print("{} -> {}, about {} tasks\n", move.from, move.to, move.rows);
  }
  if (options.dry_run) {
    fmt::print("nothing was changed\n");
    return;
  }
  {
    Progress progress{plan};
    must(store->split({.tables = options.to, .progress = [&](const SplitMove& move) { progress.tell(move); }}));
  }
  fmt::print("done; set layout=hash({}) in the urls of the instances before they are started again\n", options.to);
}

}  // namespace

void add_split_command(CLI::App& app) {
  auto* command = app.add_subcommand("split", "Spreads layout=hash(n) over more tables, while instances work");
  auto options = std::make_shared<SplitOptions>();
  command->add_option("--store", options->store, "postgres:// or mysql:// with the options that the instances have")
      ->required();
  command->add_option("--to", options->to, "How many tables; a multiple of what there is")->required();
  command->add_flag("--dry-run", options->dry_run, "Only say what would be moved");
  command->footer("May be interrupted at any time; the same command goes on.");
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
