#include "call/inbox_tasks.h"

#include <stdexcept>

#include <easyretry/json_text.h>

#include "call/new_tasks.h"

namespace easyretry::call {
namespace {

void copy(const JsonView& from, JsonWriter& to);

void copy_integer(const JsonView& from, JsonWriter& to) {
  try {
    to.integer(from.as_int());
  } catch (const JsonError&) {
    to.unsigned_integer(from.as_uint());
  }
}

void copy_array(const JsonView& from, JsonWriter& to) {
  to.begin_array();
  for (std::size_t i = 0; i < from.size(); ++i) copy(from.at(i), to);
  to.end_array();
}

void copy_object(const JsonView& from, JsonWriter& to) {
  to.begin_object();
  for (const auto [key, value] : from.members()) {
    to.key(key);
    copy(value, to);
  }
  to.end_object();
}

void copy(const JsonView& from, JsonWriter& to) {
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

// In the form in which a submit here would have stored them, so that equal arguments give equal keys.
std::string canonical_arguments(const std::string& text) {
  const JsonDocument document = JsonDocument::parse(text);
  document.root().expect(JsonKind::array);
  JsonWriter writer;
  copy(document.root(), writer);
  return writer.take();
}

}  // namespace

tl::expected<task::NewTask, std::string> task_from(const engine::Context& context, storage::InboxRow row) {
  const auto known = context.handlers.snapshot()->find(row.handler);
  if (known == nullptr) return tl::make_unexpected("no handler is named \"" + row.handler + "\" here");
  try {
    detail::Submission asked;
    asked.payload = canonical_arguments(row.payload);
    asked.options.key = std::move(row.key);
    asked.options.business_type = std::move(row.business_type);
    asked.options.business_id = std::move(row.business_id);
    asked.options.traceparent = std::move(row.traceparent);
    asked.options.due_at = row.due_at;
    return new_task(context, *known, std::move(asked));
  } catch (const JsonError& error) {
    return tl::make_unexpected("params_json is not a JSON array of arguments: " + std::string{error.what()});
  } catch (const std::invalid_argument& error) {
    return tl::make_unexpected(std::string{error.what()});
  }
}

}  // namespace easyretry::call
