#include "tables/tables_command.h"

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "storage/open.h"

namespace easyretry::app {
namespace {

using storage::TableInfo;

std::string_view word_for(TableInfo::State state) {
  switch (state) {
    case TableInfo::State::in_use: return "in use";
    case TableInfo::State::ahead: return "made ahead";
    case TableInfo::State::leaving: return "to be emptied and dropped";
    case TableInfo::State::history: return "history";
    case TableInfo::State::other: return "";
  }
  return "";
}

std::string size_text(std::int64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1024 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return fmt::format("{:.{}f} {}", size, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string day_text(const std::optional<TimePoint>& time) {
  if (!time) return "";
  return fmt::format("{:%Y-%m-%d}", std::chrono::time_point_cast<std::chrono::seconds>(*time));
}

void print(const std::vector<TableInfo>& tables) {
  fmt::print("{:<36} {:>12} {:>10}  {:<10}  {}\n", "table", "rows about", "size", "begins", "state");
  for (const TableInfo& table : tables) {
    fmt::print("{:<36} {:>12} {:>10}  {:<10}  {}\n", table.name, table.rows, size_text(table.bytes),
               day_text(table.begins), word_for(table.state));
  }
}

void print_json(const std::vector<TableInfo>& tables) {
  auto list = nlohmann::json::array();
  for (const TableInfo& table : tables) {
    list.push_back({{"table", table.name},
                    {"rows", table.rows},
                    {"bytes", table.bytes},
                    {"begins", day_text(table.begins)},
                    {"state", word_for(table.state)}});
  }
  fmt::print("{}\n", list.dump());
}

void run(const std::string& url, bool as_json) {
  if (!storage::stored_settings(url)) {  // opening would make tables
    fmt::print("{}\n", as_json ? "[]" : "there is nothing of EasyRetry in this database yet");
    return;
  }
  const auto store = storage::open_store(url, system_clock());
  const auto tables = store->tables();
  if (!tables) throw StoreError{tables.error()};
  as_json ? print_json(*tables) : print(*tables);
}

}  // namespace

void add_tables_command(CLI::App& app) {
  auto* command = app.add_subcommand("tables", "Shows the tables of a database server: rows, size, age and state");
  auto url = std::make_shared<std::string>();
  auto as_json = std::make_shared<bool>(false);
  command->add_option("--store", *url, "postgres:// or mysql:// with the options that the instances have")->required();
  command->add_flag("--json", *as_json, "One JSON array instead of a table");
  command->callback([url, as_json] { run(*url, *as_json); });
}

}  // namespace easyretry::app
