#include "task/list_cursor.h"

#include <charconv>

namespace easyretry::task {
namespace {

constexpr std::string_view kOlder = "older-";
constexpr std::string_view kNewer = "newer-";

}  // namespace

std::string to_text(const ListCursor& cursor) {
  return std::string{cursor.order == ListOrder::newest_first ? kOlder : kNewer} + to_string(cursor.after);
}

std::optional<ListCursor> parse_list_cursor(std::string_view text) {
  const bool older = text.starts_with(kOlder);
  if (!older && !text.starts_with(kNewer)) return std::nullopt;
  text.remove_prefix(kOlder.size());
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size() || id <= 0) return std::nullopt;
  return ListCursor{older ? ListOrder::newest_first : ListOrder::oldest_first, TaskId{id}};
}

}  // namespace easyretry::task
