#include <functional>
#include <iostream>
#include <random>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <easyretry/error.h>

#include "bench/bench.h"
#include "storage/open.h"

namespace easyretry::app {
namespace {

// Runs `work` in a child process. False if it threw or the process died.
bool run_in_child(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      work();
      _exit(0);
    } catch (const std::exception& e) {
      std::cerr << "easyretry: " << e.what() << "\n";
      _exit(1);
    }
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void store_waiting(const BenchOptions& options, const std::string& name_space, const Progress& progress) {
  const auto store = storage::open_store(options.store, system_clock());
  for (std::size_t from = 0; from < options.waiting; from += options.batch) {
    progress("waiting tasks: enqueue", static_cast<double>(from) / static_cast<double>(options.waiting));
    std::vector<task::NewTask> rows(std::min(options.batch, options.waiting - from));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      rows[i].name_space = name_space;
      rows[i].handler = "bench.noop";
      rows[i].key = "waiting-" + std::to_string(from + i);
      rows[i].payload = R"([{"amount":9.99,"customer":"waiting","number":0}])";
      rows[i].delay = std::chrono::hours{24} + Millis{from};
    }
    if (auto reply = store->insert(rows); !reply) throw StoreError(std::move(reply.error()));
  }
}

void remove_waiting(const BenchOptions& options, const std::string& name_space, const Progress& progress) {
  const auto store = storage::open_store(options.store, system_clock());
  storage::TaskQuery query;
  query.name_space = name_space;
  query.limit = options.batch;
  for (std::size_t done = 0; done < options.waiting; done += options.batch) {
    progress("waiting tasks: clearing", static_cast<double>(done) / static_cast<double>(options.waiting));
    const auto page = store->list(query);
    if (!page) throw StoreError(page.error());
    std::vector<task::Ending> cancelled;
    cancelled.reserve(page->size());
    for (const auto& record : *page) cancelled.push_back({.id = record.info.id});
    if (auto reply = store->end(cancelled); !reply) throw StoreError(std::move(reply.error()));
  }
}

}  // namespace

WaitingTasks::WaitingTasks(const BenchOptions& options, const Progress& progress)
    : options_(options), progress_(progress), namespace_(options.name_space) {
  if (options_.waiting == 0) return;
  if (!run_in_child([&] { store_waiting(options_, namespace_, progress_); })) {
    throw std::runtime_error("the waiting tasks could not be stored");
  }
}

WaitingTasks::~WaitingTasks() {
  if (options_.waiting == 0) return;
  if (!run_in_child([&] { remove_waiting(options_, namespace_, progress_); })) {
    std::cerr << "easyretry: waiting tasks were left in namespace " << namespace_ << "\n";
  }
}

}  // namespace easyretry::app
