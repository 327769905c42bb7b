#include "bench/measured.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>

namespace easyretry::app {

MeasuredOrder measured_order(std::int64_t number) {
  return {number, "customer-" + std::to_string(number % 1000) + "@example.com, 221B Baker Street, London", 9.99};
}

std::vector<MeasuredOrder> measured_orders(std::size_t from, std::size_t to) {
  std::vector<MeasuredOrder> all;
  all.reserve(to - from);
  for (std::size_t i = from; i < to; ++i) all.push_back(measured_order(static_cast<std::int64_t>(i)));
  return all;
}

Spread spread_of(std::vector<double> millis) {
  std::sort(millis.begin(), millis.end());
  const auto at = [&](double part) {
    return millis[static_cast<std::size_t>(part * static_cast<double>(millis.size() - 1))];
  };
  return {at(0.5), at(0.99), millis.back()};
}

EngineOptions engine_options(const BenchOptions& options) {
  EngineOptions engine;
  engine.name_space = options.name_space;
  engine.workers = options.workers;
  engine.batch = options.batch;
  return engine;
}

HandlerOptions noop_options(const BenchOptions& options) {
  HandlerOptions noop;
  if (options.circuit) noop.circuit = CircuitOptions{};
  return noop;
}

void wait_for(const Engine& engine, std::size_t succeeded, std::string_view what, const Progress& progress) {
  for (auto done = engine.stats().succeeded; done < succeeded; done = engine.stats().succeeded) {
    progress(what, static_cast<double>(done) / static_cast<double>(succeeded));
    std::this_thread::sleep_for(std::chrono::milliseconds{2});
  }
}

ScratchStore::ScratchStore(const std::string& url, const std::string& suffix) : url_(url) {
  constexpr std::string_view kSqlite = "sqlite:";
  if (!url.starts_with(kSqlite)) return;
  const std::size_t end = std::min(url.find('?'), url.size());
  file_ = url.substr(kSqlite.size(), end - kSqlite.size()) + suffix;
  url_ = std::string{kSqlite} + file_ + url.substr(end);
  remove();
}

void ScratchStore::remove() const {
  if (file_.empty()) return;
  std::error_code ignored;  // a leftover file is not a reason to fail
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) std::filesystem::remove(file_ + suffix, ignored);
}

}  // namespace easyretry::app
