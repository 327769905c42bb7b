#include "engine/keeper.h"

namespace easyretry::engine {
namespace {
constexpr auto kEvery = std::chrono::hours{1};
constexpr auto kAfterFailure = std::chrono::minutes{1};
}  // namespace

Step Keeper::step() {
  const auto report = context_.store.keep();
  if (!report) {
    context_.note(report.error());
    return {true, context_.clock.steady() + kAfterFailure};
  }
  for (const std::string& table : report->made_tables) context_.log(LogLevel::info, "table made: " + table);
  if (report->moved > 0) {
    context_.log(LogLevel::info, std::to_string(report->moved) + " unfinished tasks moved out of tables that leave");
  }
  for (const std::string& table : report->dropped_tables) context_.log(LogLevel::info, "table dropped: " + table);
  if (report->more) return Step::again();
  return {true, context_.clock.steady() + kEvery};
}

}  // namespace easyretry::engine
