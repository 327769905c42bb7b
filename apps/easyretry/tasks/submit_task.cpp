#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <easyretry/detail/json_text.h>

#include "base/duration_text.h"
#include "base/json_copy.h"
#include "command_line.h"
#include "printing/terminal.h"
#include "printing/text.h"
#include "service/service.h"
#include "tasks/task_commands.h"

namespace easyretry::app {
namespace {

struct SubmitOptions {
  ServiceOptions service;
  std::string handler;
  std::string args;
  std::string args_file;
  std::map<std::string, std::string> texts;  // by their names in the API
  std::vector<std::string> tags;
  std::string delay;
  bool dry_run = false;
  bool as_json = false;
};

std::string read_all(const std::string& file) {
  if (file == "-") return {std::istreambuf_iterator<char>{std::cin}, {}};
  std::ifstream in{file};
  if (!in) throw std::invalid_argument("--args-file " + file + " cannot be read");
  return {std::istreambuf_iterator<char>{in}, {}};
}

// Copied as text, so that a number with 30 digits keeps them all.
void write_args(JsonWriter& out, const SubmitOptions& options) {
  const std::string text = options.args_file.empty() ? options.args : read_all(options.args_file);
  if (text.empty()) return;
  try {
    const JsonDocument args = JsonDocument::parse(text);
    out.key("args");
    base::copy_json(args.root(), out);
  } catch (const JsonError& e) {
    throw std::invalid_argument(std::string{"the arguments are not JSON: "} + e.what() +
                                R"(; write them as --args '[{"to": "ann"}]')");
  }
}

std::string request_of(const SubmitOptions& options) {
  JsonWriter out;
  out.begin_object();
  out.key("handler");
  out.string(options.handler);
  write_args(out, options);
  for (const auto& [name, value] : options.texts) {
    out.key(name);
    out.string(value);
  }
  if (!options.tags.empty()) {
    out.key("tags");
    out.begin_array();
    for (const std::string& tag : options.tags) out.string(tag);
    out.end_array();
  }
  if (!options.delay.empty()) {
    out.key("delay_ms");
    out.integer(base::parse_duration(options.delay).count());
  }
  out.end_object();
  return out.take();
}

void run(const SubmitOptions& options) {
  const std::string request = request_of(options);
  if (options.dry_run) {
    fmt::print("{}\n", request);
    return fmt::print(stderr, "nothing was sent: this is a dry run\n");
  }
  const nlohmann::json stored =
      open_service(options.service)->ask({.method = Method::post, .path = {"tasks"}, .body = request});
  if (options.as_json) return fmt::print("{}\n", json_text(stored));
  fmt::print("{}\n", stored.value("id", ""));
  fmt::print(stderr, "{}, with the key {}\n", stored.value("created", false) ? "stored" : "already existed",
             printable(stored.value("key", "")));
}

CLI::Option* add_text(CLI::App& command, const std::shared_ptr<SubmitOptions>& options, const char* flag,
                      const char* name, const char* about) {
  return command.add_option_function<std::string>(
      flag, [options, name](const std::string& value) { options->texts[name] = value; }, about);
}

}  // namespace

void add_submit_command(CLI::App& tasks) {
  auto* command = tasks.add_subcommand("submit", "Stores a task and prints its id");
  auto options = std::make_shared<SubmitOptions>();
  command->add_option("handler", options->handler, "The name of the handler that runs it")->required();
  auto* args = command->add_option("--args", options->args, R"(JSON: '[{"to": "ann"}]')");
  command->add_option("--args-file", options->args_file, "File with the arguments; - for stdin")->excludes(args);
  add_text(*command, options, "--key", "key", "Unique among live tasks (default: made from the arguments)");
  auto* on_duplicate = add_text(*command, options, "--on-duplicate", "on_duplicate", "If the key is live");
  one_of(on_duplicate, {"keep", "update_policy", "reject"});
  add_text(*command, options, "--business-type", "business_type", "For searching");
  add_text(*command, options, "--business-id", "business_id", "For searching");
  add_text(*command, options, "--traceparent", "traceparent", "W3C trace context of the caller");
  auto* task_class = add_text(*command, options, "--class", "class", "Who is served first (default: the handler's)");
  one_of(task_class, {"urgent", "normal", "background"});
  add_text(*command, options, "--deadline", "deadline", "No attempt after 2026-03-01T12:00:00Z");
  add_text(*command, options, "--due-at", "due_at", "Not run before 2026-03-01T12:00:00Z");
  command->add_option("--delay", options->delay, "Not run before this delay: 250ms, 90s, 15m, 2h, 7d")
      ->check(not_a_duration);
  command->add_option("--tag", options->tags, "Can be repeated")->take_all();
  command->add_flag("--dry-run", options->dry_run, "Prints what would be sent");
  command->add_flag("--json", options->as_json, "One JSON object, as returned by the API");
  add_service_options(*command, options->service);
  command->callback([options] { run(*options); });
}

}  // namespace easyretry::app
