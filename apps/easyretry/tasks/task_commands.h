#pragma once
// The subcommands of `easyretry tasks` and `easyretry history`, and the filters that select their tasks.

#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace easyretry::app {

enum class TaskSet { live, ended };

void add_list_command(CLI::App& parent, TaskSet set);
void add_show_command(CLI::App& tasks);
void add_submit_command(CLI::App& tasks);
void add_retry_command(CLI::App& tasks);
void add_edit_command(CLI::App& tasks);
void add_cancel_command(CLI::App& tasks);
void add_complete_command(CLI::App& tasks);
void add_fail_command(CLI::App& tasks);
void add_requeue_command(CLI::App& tasks);

using Filters = std::map<std::string, std::string>;  // by their names in the API: created_from

// Adds --handler, --created-from and so on. They write to `filters`, which must live as long as the command.
std::vector<CLI::Option*> add_filters(CLI::App& command, TaskSet set, Filters& filters);
CLI::Option* add_filter(CLI::App& command, const std::string& name, const std::string& about, Filters& filters);

// True if they exclude any task; --requeued does not, because it includes more.
bool restricts(const Filters& filters);

// In the form that the API expects: "2h" becomes the time two hours ago.
Filters in_terms_of_the_api(Filters filters);

}  // namespace easyretry::app
