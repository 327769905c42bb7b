#pragma once
// Which tasks a command is for, by the API's conditions: --handler, --created-from, …

#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace easyretry::app {

enum class Listed { live, ended };

using Filters = std::map<std::string, std::string>;  // by the API's names

// Adds them; they fill `filters`, which must live as long as the command.
std::vector<CLI::Option*> add_filters(CLI::App& command, Listed what, Filters& filters);
CLI::Option* add_filter(CLI::App& command, const std::string& name, const std::string& about, Filters& filters);

// Whether they leave anything out: --requeued only adds.
bool restricts(const Filters& filters);

// As the API takes them: "2h" is two hours ago.
Filters in_terms_of_the_api(Filters filters);

}  // namespace easyretry::app
