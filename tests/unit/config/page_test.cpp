// docs/configuration.md matches the table of keys.

#include <fstream>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/keys.h"
#include "unit/config/support.h"

namespace easyretry::config {
namespace {

std::string page(const std::string& name = "configuration") {
  std::ifstream file{EASYRETRY_ROOT "/docs/" + name + ".md"};
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The rows of the page without their last column, the description.
std::set<std::string> rows() {
  std::istringstream lines{page()};
  std::set<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    EXPECT_TRUE(found.insert(line.substr(0, line.rfind(" | "))).second) << "twice on the page: " << line;
  }
  return found;
}

// The defaults of a handler that is not configured.
HandlerConfig built_in() {
  const HandlerOptions options;
  return {.persist = Persist::retry_only,
          .policy = {.backoff = Exponential{},
                     .max_attempts = kDefaultMaxAttempts,
                     .max_duration = Millis{0},
                     .retry_on = {{}},
                     .never_retry = {{}},
                     .success_when = ""},
          .concurrency = options.concurrency,
          .timeout = options.timeout,
          .keep_results = options.keep_results};
}

std::string code(const std::string& text) {
  return "`" + text + "`";
}

template <class Owner>
void add_rows(std::set<std::string>& rows, const std::vector<Key<Owner>>& keys, const std::string& group,
              const Owner& defaults) {
  for (const Key<Owner>& key : keys) {
    const std::string path = group + std::string{key.name};
    const auto text = key.text(defaults);
    rows.insert("| " + code(path) + " | " + (key.is_list ? "–" : code(variable_of(path))) + " | " +
                (text ? code(*text) : "–") + " | " +
                (key.takes_effect == TakesEffect::at_once ? "at once" : "restart"));
  }
}

TEST(ConfigurationPage, ListsEveryKeyWithItsVariableDefaultAndEffect) {
  std::set<std::string> table;
  add_rows(table, engine_keys(), "", Config{});
  add_rows(table, encryption_keys(), "encryption.", KeyFolder{});
  add_rows(table, handler_keys(), "defaults.", built_in());
  add_rows(table, log_keys(), "log.", LogConfig{});
  add_rows(table, server_keys(), "server.", ServerConfig{});
  EXPECT_EQ(rows(), table);
}

TEST(ConfigurationPage, ShowsTheExampleThatIsTested) {
  EXPECT_THAT(page(), testing::HasSubstr("```yaml\n# easyretry.yaml\n" + std::string{kExample} + "```"));
}

TEST(ConfigurationPage, QuotesErrorsAsTheyAre) {
  const auto problems = problems_of("\n\nworkerz: 8\n\nlease: 30\n", {{"EASYRETRY_WORKER", "8"}});
  std::string block;
  for (const std::string& problem : problems) block += "    " + problem + "\n";
  EXPECT_THAT(page(), testing::HasSubstr(block));
}

std::string indented(const std::string& text, const std::string& by) {
  std::istringstream lines{text};
  std::string moved;
  for (std::string line; std::getline(lines, line);) moved += by + line + "\n";
  return moved;
}

std::vector<std::string> yaml_blocks(const std::string& page) {
  static const std::string kBegin = "```yaml\n";
  std::vector<std::string> blocks;
  for (auto at = page.find(kBegin); at != std::string::npos; at = page.find(kBegin, at + 1)) {
    const auto begin = at + kBegin.size();
    blocks.push_back(page.substr(begin, page.find("```", begin) - begin));
  }
  return blocks;
}

TEST(AlertsPage, ShowsExamplesThatAreTakenAsTheyAre) {
  const auto blocks = yaml_blocks(page("alerts"));
  std::set<ChannelType> shown;
  for (std::string block : blocks) {
    if (!block.starts_with("# easyretry.yaml")) block = "alerts:\n  channels:\n" + indented(block, "    ");
    EXPECT_EQ(problem_of(block), "accepted") << block;
    for (const auto& [name, channel] : parse_config(block).alerts.channels) shown.insert(channel.type);
  }
  EXPECT_EQ(shown.size(), 6U);
}

TEST(AlertsPage, ListsEveryKeyOfARule) {
  for (const auto& key : rule_keys()) {
    EXPECT_THAT(page("alerts"), testing::HasSubstr("\n| " + std::string{key.name} + " | ")) << key.name;
  }
}

}  // namespace
}  // namespace easyretry::config
