#pragma once
// Where the next page of a list begins. A cursor contains the order of its list, so that it cannot be used in the other
// one: it would skip the tasks that it is to lead to.

#include <optional>
#include <string>
#include <string_view>

#include <easyretry/task.h>

namespace easyretry::task {

struct ListCursor {
  ListOrder order = ListOrder::oldest_first;
  TaskId after{};  // as in TaskQuery

  friend bool operator==(const ListCursor&, const ListCursor&) = default;
};

// `next` and `after` of the API: "older-910048318464253839" goes on with older tasks, so its list is newest first;
// "newer-…" goes on with newer ones.
std::string to_text(const ListCursor& cursor);
std::optional<ListCursor> parse_list_cursor(std::string_view text);

}  // namespace easyretry::task
