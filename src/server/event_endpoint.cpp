// /v1/events: what happens, as it happens, in the form that browsers call server-sent events.

#include <algorithm>
#include <sstream>

#include "server/endpoints.h"
#include "server/query.h"
#include "server/refusal.h"
#include "server/task_json.h"

namespace easyretry::server {
namespace {

// "a,b"
std::set<std::string> words(const http::Request& request, const std::string& name) {
  std::set<std::string> words;
  const auto found = request.target.query.find(name);
  if (found == request.target.query.end()) return words;
  std::istringstream text{found->second};
  for (std::string word; std::getline(text, word, ',');) words.insert(word);
  return words;
}

std::set<std::string> kinds(const http::Request& request) {
  std::set<std::string> asked = words(request, "kind");
  std::vector<std::string> known;
  for (int i = 0; i <= static_cast<int>(EventKind::history_dropped); ++i) {
    known.push_back(name_of(static_cast<EventKind>(i)));
  }
  const auto is_known = [&](const std::string& kind) { return std::ranges::find(known, kind) != known.end(); };
  const auto unknown = std::ranges::find_if_not(asked, is_known);
  if (unknown == asked.end()) return asked;
  std::string all;
  for (const std::string& one : known) all.append(all.empty() ? "" : ", ").append(one);
  throw Refusal{{422, "invalid", "the parameter kind: unknown kind \"" + *unknown + "\"; known: " + all}};
}

void events(const Call& call, const http::Respond& respond) {
  require_known(call.request, {"kind", "handler"});
  EventFeed::Filter filter{kinds(call.request), words(call.request, "handler")};
  auto stream = call.space->events(std::move(filter), call.request.header("last-event-id").value_or(""));
  respond({.content_type = "text/event-stream", .stream = std::move(stream)});
}

}  // namespace

void add_event_endpoint(Api& api) {
  api.add(http::Method::get, "/v1/events", Right::view, Endpoint{events});
}

}  // namespace easyretry::server
