#include "handlers/pause_handler.h"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "handlers/handlers_options.h"
#include "printing/json_text.h"
#include "printing/terminal.h"

namespace easyretry::app {
namespace {

struct Wish {
  std::string name;
  std::string why;
};

CLI::App* add_command(CLI::App& handlers, HandlersOptions& options, Wish& wish, const char* verb, const char* about) {
  auto* command = handlers.add_subcommand(verb, about);
  command->add_option("name", wish.name, "The name of the handler")->required();
  command->add_flag("--json", options.as_json, "One JSON object, as returned by the API");
  add_service_options(*command, options.service);
  return command;
}

// A name that nobody has is most often a slip, but the handler may live elsewhere.
void hint_at_unknown(Service& service, const std::string& name) {
  const nlohmann::json answer = service.ask({.path = {"handlers"}});
  for (const nlohmann::json& handler : answer.at("handlers")) {
    if (handler.value("name", "") != name) continue;
    if (handler.value("served", false) || handler.value("stored", std::int64_t{0}) > 0) return;
  }
  fmt::print(stderr, "note: no task of {} was ever stored, and it is not registered here; is the name right?\n",
             printable(name));
}

void pause(const HandlersOptions& options, const Wish& wish) {
  const auto service = open_service(options.service);
  const nlohmann::json answer = service->ask({.method = Method::post,
                                              .path = {"handlers", wish.name, "pause"},
                                              .body = nlohmann::json{{"why", wish.why}}.dump()});
  if (options.as_json) return fmt::print("{}\n", json_text(answer));
  fmt::print("{} {} until `easyretry handlers resume {}`\n", printable(wish.name),
             answer.value("changed", false) ? "is paused: within two seconds, no instance runs its tasks,"
                                            : "was already paused, and stays paused",
             printable(wish.name));
  hint_at_unknown(*service, wish.name);
}

void resume(const HandlersOptions& options, const Wish& wish) {
  const nlohmann::json answer =
      open_service(options.service)->ask({.method = Method::post, .path = {"handlers", wish.name, "resume"}});
  if (options.as_json) return fmt::print("{}\n", json_text(answer));
  fmt::print("{} {}\n", printable(wish.name),
             answer.value("changed", false) ? "is resumed: its tasks run again" : "was not paused");
}

}  // namespace

void add_pause_command(CLI::App& handlers, HandlersOptions& options) {
  auto wish = std::make_shared<Wish>();
  auto* command = add_command(handlers, options, *wish, "pause", "Pauses a handler: no instance runs its tasks");
  command->add_option("--why", wish->why, "The reason, shown to other operators");
  command->callback([&options, wish] { pause(options, *wish); });
}

void add_resume_command(CLI::App& handlers, HandlersOptions& options) {
  auto wish = std::make_shared<Wish>();
  auto* command = add_command(handlers, options, *wish, "resume", "Resumes a paused handler");
  command->callback([&options, wish] { resume(options, *wish); });
}

}  // namespace easyretry::app
