#pragma once
// Which members of a JSON object an expression can reach, so that the others need not be copied into Lua.

#include <string>
#include <string_view>
#include <vector>

namespace easyretry::policy {

// Without libraries there is no way to list a table, so a member is reached by name only: `.name` or `["name"]`. Where
// the expression has no bracket but around a plain number, as in args[1], every reachable name is one of its words.
class MentionedKeys {
 public:
  explicit MentionedKeys(std::string_view expression);
  bool contains(std::string_view key) const;

 private:
  bool any_ = false;
  std::vector<std::string> words_;  // keywords, and words in texts and comments, are among them and do no harm
};

}  // namespace easyretry::policy
