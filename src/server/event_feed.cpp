#include "server/event_feed.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "server/endpoints.h"
#include "server/refusal.h"
#include "server/request_fields.h"
#include "server/task_answers.h"

namespace easyretry::server {
namespace {

std::string server_sent(const std::string& id, const std::string& kind, const std::string& data) {
  return "id: " + id + "\nevent: " + kind + "\ndata: " + data + "\n\n";
}

// The number in an event id; nullopt if the id is from another run.
std::optional<std::uint64_t> number_in(std::string_view id, const std::string& run) {
  if (!id.starts_with(run + "-")) return std::nullopt;
  id.remove_prefix(run.size() + 1);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  return error == std::errc{} && end == id.data() + id.size() ? std::optional{number} : std::nullopt;
}

}  // namespace

EventFeed::EventFeed(const Clock& clock, Limits limits) : clock_(clock), limits_(std::move(limits)) {}

void EventFeed::tell(const Event& event) {
  if (!awake_) return;
  const std::string data = to_json(shown(event));
  const std::lock_guard lock{mutex_};
  remove_ended();
  if (watchers_.empty() && clock_.steady() >= last_watched_ + limits_.kept_for) return sleep();
  FeedEntry entry{name_of(event.kind), event.task.handler, {}};
  entry.text = server_sent(id_of(next_++), entry.kind, data);
  for (const Watcher& watcher : watchers_) {
    if (wanted(watcher.filter, entry)) watcher.stream->write(entry.text);
  }
  kept_.push_back(std::move(entry));
  if (kept_.size() > limits_.kept) kept_.pop_front();
}

std::shared_ptr<http::BodyStream> EventFeed::watch(Filter filter, std::string_view last) {
  const std::lock_guard lock{mutex_};
  remove_ended();
  if (closed_ || watchers_.size() >= limits_.watchers) {
    throw Refusal{
        {503,
         "too_many_watchers",
         closed_ ? "this instance is stopping" : std::to_string(watchers_.size()) + " event streams are already open",
         "close some, or try again later",
         {{"Retry-After", "5"}}}};
  }
  if (!awake_) wake();
  auto stream = std::make_shared<http::BodyStream>(limits_.stream);
  stream->write(missed(filter, last));
  watchers_.push_back({std::move(filter), stream});
  return stream;
}

void EventFeed::close() {
  const std::lock_guard lock{mutex_};
  closed_ = true;
  for (const Watcher& watcher : watchers_) watcher.stream->end();
  watchers_.clear();
  sleep();
}

bool EventFeed::wanted(const Filter& filter, const FeedEntry& entry) {
  return (filter.kinds.empty() || filter.kinds.contains(entry.kind)) &&
         (filter.handlers.empty() || filter.handlers.contains(entry.handler));
}

void EventFeed::remove_ended() {
  if (std::erase_if(watchers_, [](const Watcher& watcher) { return watcher.stream->ended(); }) > 0) {
    last_watched_ = clock_.steady();
  }
}

void EventFeed::wake() {
  run_ = std::to_string(clock_.now().time_since_epoch().count());
  next_ = 1;
  last_watched_ = clock_.steady();
  awake_ = true;
}

void EventFeed::sleep() {
  awake_ = false;
  kept_.clear();
}

std::string EventFeed::missed(const Filter& filter, std::string_view last) const {
  const std::string here = "id: " + id_of(next_ - 1) + "\n";
  if (last.empty()) return here + ": from now on\n\n";
  const auto number = number_in(last, run_);
  const std::uint64_t oldest = next_ - kept_.size();
  if (!number || *number >= next_ || *number + 1 < oldest) {
    return server_sent(id_of(next_ - 1), "gap",
                       R"({"message":"the events since that id are no longer kept; see /v1/tasks"})");
  }
  std::string text;
  for (std::size_t i = *number + 1 - oldest; i < kept_.size(); ++i) {
    if (wanted(filter, kept_[i])) text += kept_[i].text;
  }
  return text + here + ": from now on\n\n";
}

// /v1/events: the feed as server-sent events.
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
  const std::vector<std::string> known = event_kinds();
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
  auto stream = call.name_space->events(std::move(filter), call.request.header("last-event-id").value_or(""));
  respond({.content_type = "text/event-stream", .stream = std::move(stream)});
}

}  // namespace

void add_event_endpoint(Api& api) {
  api.add(http::Method::get, "/v1/events", Right::view, Endpoint{events});
}

std::vector<std::string> event_kinds() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(EventKind::history_dropped); ++i) {
    names.push_back(name_of(static_cast<EventKind>(i)));
  }
  return names;
}

}  // namespace easyretry::server
