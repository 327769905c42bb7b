#pragma once
// Values whose JSON in an answer of the API differs from the JSON of the C++ value: ids and times are strings.
//
// An answer is a struct of these and of plain values, with EASYRETRY_JSON, and to_json() writes it. An empty optional
// is left out. Views refer to the record or list from which the answer is made.

#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <easyretry/json.h>
#include <easyretry/task.h>

#include "base/json_copy.h"
#include "base/time_text.h"
#include "base/utf8.h"

namespace easyretry::server {

// A string, because an id has more digits than a number in JavaScript.
struct ShownId {
  ShownId(TaskId from = {}) : id(from) {}  // NOLINT: so that an answer takes an optional<TaskId>
  TaskId id;
};

// "2026-03-01T12:00:00.000Z"
struct ShownTime {
  ShownTime(TimePoint from = {}) : at(from) {}  // NOLINT: so that an answer takes an optional<TimePoint>
  TimePoint at;
};

// A text that may be corrupted or manually edited: a row with invalid UTF-8 must not hide the others.
struct ShownText {
  std::string_view text;
};

// A value that is JSON already.
struct ShownJson {
  std::string_view json;
};

// Left out if it is empty.
inline std::optional<ShownText> if_any(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional{ShownText{text}};
}

// An answer with the fields of several structs.
template <class... Parts>
struct Joined : Parts... {};
template <class... Parts>
constexpr auto easyretry_json_fields(JsonTag<Joined<Parts...>>) {
  return std::tuple_cat(easyretry_json_fields(JsonTag<Parts>{})...);
}

}  // namespace easyretry::server

namespace easyretry {

template <>
struct JsonCodec<server::ShownId> {
  static void write(JsonWriter& out, server::ShownId value) { out.string(to_string(value.id)); }
};

template <>
struct JsonCodec<server::ShownTime> {
  static void write(JsonWriter& out, server::ShownTime value) { out.string(base::to_text(value.at)); }
};

template <>
struct JsonCodec<server::ShownText> {
  static void write(JsonWriter& out, server::ShownText value) {
    out.string(base::invalid_utf8(value.text) == std::string_view::npos ? value.text : "(not UTF-8)");
  }
};

template <>
struct JsonCodec<server::ShownJson> {
  static void write(JsonWriter& out, server::ShownJson value) {
    base::copy_json(JsonDocument::parse(value.json).root(), out);
  }
};

}  // namespace easyretry
