#include "mxrmq/scan.h"

namespace easyretry::mxrmq {
namespace {

constexpr std::size_t kFieldsASlice = 500;
constexpr std::int64_t kIdsASlice = 1'000;

FoundField::Kind kind_of(std::string_view mark) {
  if (mark.empty()) return FoundField::Kind::body;
  return mark == "1" ? FoundField::Kind::companion : FoundField::Kind::lone;
}

}  // namespace

std::string name_of(Where where) {
  switch (where) {
    case Where::payloads: return "payloads";
    case Where::dlq: return "dlq";
    case Where::own: return "own";
  }
  return "";
}

void each_slice(Link& link, Where where, const std::function<void(const std::vector<FoundField>&)>& visit) {
  std::string cursor = "0";
  do {
    const Reply reply = link.run(scripts::fields, "", {name_of(where), cursor, std::to_string(kFieldsASlice)});
    std::vector<FoundField> found;
    for (std::size_t i = 1; i + 2 < reply.size(); i += 3) {
      found.push_back(
          {std::string{reply.text(i)}, kind_of(reply.text(i + 1)), link.keys().topic_of(reply.text(i + 2))});
    }
    cursor = reply.text(0);
    visit(found);
  } while (cursor != "0");
}

void each_slice(Link& link, const std::string& list,
                const std::function<void(const std::vector<std::string>&)>& visit) {
  for (std::int64_t from = 0;; from += kIdsASlice) {
    const std::string first = std::to_string(from);
    const std::string last = std::to_string(from + kIdsASlice - 1);
    const Reply reply =
        link.run(Command::of("LRANGE", std::string_view{list}, std::string_view{first}, std::string_view{last}));
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < reply.size(); ++i) ids.emplace_back(reply.text(i));
    if (ids.empty()) return;
    visit(ids);
  }
}

std::set<std::string> topics_of(Link& link) {
  std::set<std::string> topics{link.options().topics.begin(), link.options().topics.end()};
  each_slice(link, Where::payloads, [&](const std::vector<FoundField>& found) {
    for (const FoundField& each : found) {
      if (!each.topic.empty()) topics.insert(each.topic);
    }
  });
  return topics;
}

}  // namespace easyretry::mxrmq
