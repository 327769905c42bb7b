#pragma once
// Reads a JSON object of a request: what is not known is refused, with what was probably meant.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/json_text.h>
#include <easyretry/time.h>

namespace easyretry::server {

class Fields {
 public:
  // Throws JsonError where it is no object.
  explicit Fields(JsonView object);

  // Each notes the name as known. `null` is as good as nothing.
  std::optional<JsonView> find(std::string_view name);
  JsonView need(std::string_view name);
  std::string text(std::string_view name, std::string otherwise = {});
  std::int64_t number(std::string_view name, std::int64_t otherwise, std::int64_t least, std::int64_t most);
  bool flag(std::string_view name, bool otherwise);
  std::optional<Millis> millis(std::string_view name, Millis most);
  std::optional<TimePoint> time(std::string_view name);
  std::vector<std::string> texts(std::string_view name, std::size_t most);

  // To be called last: throws Refusal for a field that nobody asked for.
  void end() const;

 private:
  JsonView object_;
  std::vector<std::string_view> known_;
};

}  // namespace easyretry::server
