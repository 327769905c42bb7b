#pragma once
// Reads the bodies and queries of requests. Unknown names are refused, with a suggestion.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/json_text.h>
#include <easyretry/task_query.h>
#include <easyretry/time.h>

#include "http/message.h"

namespace easyretry::server {

// The members of a JSON object.
class Fields {
 public:
  // Throws JsonError for anything but an object.
  explicit Fields(JsonView object);

  // Each of these marks the name as known. `null` is like a missing member.
  std::optional<JsonView> find(std::string_view name);
  JsonView need(std::string_view name);
  std::string text(std::string_view name, std::string otherwise = {});
  std::int64_t number(std::string_view name, std::int64_t otherwise, std::int64_t least, std::int64_t most);
  bool flag(std::string_view name, bool otherwise);
  std::optional<Millis> millis(std::string_view name, Millis most);
  std::optional<TimePoint> time(std::string_view name);
  std::vector<std::string> texts(std::string_view name, std::size_t most);

  // To be called last: throws Refusal for a member that was not asked for.
  void end() const;

 private:
  JsonView object_;
  std::vector<std::string_view> known_;
};

// The query of a request, or a filter in its body.
using Conditions = std::map<std::string, std::string>;

// A query for live tasks, or for history. Throws Refusal for an unknown name, with a suggestion, or an invalid value.
TaskQuery task_query(const Conditions& conditions, bool finished);

// Throws Refusal if the value is neither true nor false. A missing one is false.
bool yes(const Conditions& conditions, const std::string& name);

// Throws Refusal for any other name.
void require_known(const Conditions& conditions, const std::vector<std::string_view>& known);
inline void require_known(const http::Request& request, const std::vector<std::string_view>& known) {
  require_known(request.target.query, known);
}

}  // namespace easyretry::server
