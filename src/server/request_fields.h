#pragma once
// Reads the bodies and queries of requests. Unknown names are refused, with a suggestion.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/detail/json_text.h>
#include <easyretry/task.h>
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
  std::int64_t need_whole(std::string_view name);  // an integer; 17.0 is one, as in JSON Schema
  std::string text(std::string_view name, std::string otherwise = {});
  std::int64_t number(std::string_view name, std::int64_t otherwise, std::int64_t least, std::int64_t most);
  bool flag(std::string_view name, bool otherwise);
  std::optional<Millis> millis(std::string_view name, Millis most);
  std::optional<TimePoint> time(std::string_view name);
  std::vector<std::string> texts(std::string_view name, std::size_t most);
  std::optional<TaskClass> task_class();  // the member `class`

  // Call it last: throws Refusal for a member that was not asked for.
  void end() const;

 private:
  JsonView object_;
  std::vector<std::string_view> known_;
};

// The member `why`. Throws Refusal if it is empty.
std::string reason_in(Fields& fields);

// Throws Refusal (404) for an invalid id.
TaskId parse_id(const std::string& text);

// The query of a request, or a filter in its body.
using Conditions = std::map<std::string, std::string>;

// A query for live tasks, or for history, newest first unless `order` says otherwise. Throws Refusal for an unknown
// name, with a suggestion, or an invalid value.
TaskQuery task_query(const Conditions& conditions, bool finished);

// Throws Refusal if the value is neither true nor false. A missing one is false.
bool yes(const Conditions& conditions, const std::string& name);

// In milliseconds. Throws Refusal if the value is not a number from 0 to `most`. A missing one is 0.
Millis millis(const Conditions& conditions, const std::string& name, Millis most);

// Throws Refusal for any other name, and names these.
void require_known(const Conditions& conditions, const std::vector<std::string_view>& known);
inline void require_known(const http::Request& request, const std::vector<std::string_view>& known) {
  require_known(request.target.query, known);
}

// Throws Refusal for a body other than {}, which some clients send when they have nothing to say.
void require_no_body(const http::Request& request);

// For a request whose path says everything.
inline void require_nothing(const http::Request& request) {
  require_known(request, {});
  require_no_body(request);
}

}  // namespace easyretry::server
