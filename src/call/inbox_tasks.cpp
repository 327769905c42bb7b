#include "call/inbox_tasks.h"

#include <stdexcept>

#include <easyretry/json_text.h>

#include "base/json_copy.h"
#include "call/new_tasks.h"

namespace easyretry::call {
namespace {

// In the form in which a submit here would have stored them, so that equal arguments give equal keys.
std::string canonical_arguments(const std::string& text) {
  const JsonDocument document = JsonDocument::parse(text);
  document.root().expect(JsonKind::array);
  return base::canonical_json(document.root());
}

}  // namespace

tl::expected<task::NewTask, std::string> task_from(const engine::Context& context, storage::InboxRow row) {
  const auto known = context.handlers.snapshot()->find(row.handler);
  if (known == nullptr) return tl::make_unexpected("no handler named \"" + row.handler + "\" is registered here");
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
