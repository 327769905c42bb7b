#include "base/json_copy.h"

namespace easyretry::base {
namespace {

// Checks the sign first instead of trying as_int(): on failure, that would search the whole document for the path.
void copy_integer(const JsonView& from, JsonWriter& to) {
  if (from.as_double() < 0) return to.integer(from.as_int());
  to.unsigned_integer(from.as_uint());
}

void copy_array(const JsonView& from, JsonWriter& to) {
  to.begin_array();
  for (std::size_t i = 0; i < from.size(); ++i) copy_json(from.at(i), to);
  to.end_array();
}

void copy_object(const JsonView& from, JsonWriter& to) {
  to.begin_object();
  for (const auto [key, value] : from.members()) {
    to.key(key);
    copy_json(value, to);
  }
  to.end_object();
}

}  // namespace

void copy_json(JsonView from, JsonWriter& to) {
  switch (from.kind()) {
    case JsonKind::null: return to.null();
    case JsonKind::boolean: return to.boolean(from.as_bool());
    case JsonKind::integer: return copy_integer(from, to);
    case JsonKind::number: return to.number(from.as_double());
    case JsonKind::string: return to.string(from.as_string());
    case JsonKind::array: return copy_array(from, to);
    case JsonKind::object: return copy_object(from, to);
  }
}

std::string canonical_json(JsonView value) {
  JsonWriter writer;
  copy_json(value, writer);
  return writer.take();
}

}  // namespace easyretry::base
