#include "storage/member_text.h"

#include <algorithm>

#include <easyretry/detail/json_text.h>

namespace easyretry::storage {
namespace {

constexpr std::string_view kSecondLine = "\nhandlers ";

}  // namespace

std::string handlers_text(const std::vector<std::string>& handlers) {
  JsonWriter out;
  out.begin_array();
  for (const std::string& name : handlers) out.string(name);
  out.end_array();
  return out.take();
}

std::optional<std::vector<std::string>> read_handlers_text(std::string_view text) try {
  const JsonDocument document = JsonDocument::parse(text);
  const JsonView list = document.root();
  if (list.kind() != JsonKind::array) return std::nullopt;
  std::vector<std::string> handlers;
  for (std::size_t i = 0; i < list.size(); ++i) handlers.emplace_back(list.at(i).as_string());
  std::ranges::sort(handlers);
  return handlers;
} catch (const JsonError&) {
  return std::nullopt;
}

bool handlers_fit(std::string_view says, const std::optional<std::vector<std::string>>& handlers, std::size_t most) {
  return !handlers || says.size() + kSecondLine.size() + handlers_text(*handlers).size() <= most;
}

std::string member_text(std::string_view says, const std::optional<std::vector<std::string>>& handlers,
                        std::size_t most) {
  std::string text{says};
  if (handlers && handlers_fit(says, handlers, most)) text.append(kSecondLine).append(handlers_text(*handlers));
  return text;
}

void read_member_text(std::string_view text, Member& member) {
  member.says = text;
  member.handlers.reset();
  const auto second = text.find(kSecondLine);
  if (second == std::string_view::npos) return;
  member.handlers = read_handlers_text(text.substr(second + kSecondLine.size()));
  if (member.handlers) member.says = text.substr(0, second);
}

}  // namespace easyretry::storage
