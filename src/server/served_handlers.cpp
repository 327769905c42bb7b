#include "server/served_handlers.h"

#include <algorithm>

#include "base/nearest.h"

namespace easyretry::server {

ServedHandlers::ServedHandlers(Namespace& name_space)
    : known_(name_space.core().handlers().snapshot()),
      cluster_(name_space.core().cluster()),
      busy_(name_space.leases().handlers(system_clock().steady())) {}

std::vector<std::string> ServedHandlers::instances(const std::string& handler) const {
  std::vector<std::string> nodes;
  if (is_served_here(handler)) nodes.push_back(cluster_.self);
  for (const auto& [node, since, says, handlers] : cluster_.members) {
    if (node == cluster_.self || !handlers) continue;
    if (std::ranges::binary_search(*handlers, handler)) nodes.push_back(node);
  }
  return nodes;
}

std::set<std::string> ServedHandlers::names() const {
  std::set<std::string> names;
  for (const auto& [name, number] : known_->by_name) {
    if (is_served_here(name)) names.insert(name);
  }
  for (const Member& member : cluster_.members) {
    if (member.node != cluster_.self && member.handlers) names.insert(member.handlers->begin(), member.handlers->end());
  }
  return names;
}

// A handler behind a URL is always attended. Workers that are busy for long do not ask, but hold leases.
bool ServedHandlers::is_served_here(const std::string& handler) const {
  const auto known = known_->find(handler);
  if (!known) return false;
  const auto& remote = known->handler.remote;
  return remote == nullptr || remote->attended() || busy_.contains(handler);
}

std::map<std::string, std::string> names_meant(const std::vector<std::string>& unserved,
                                               const std::set<std::string>& served) {
  constexpr std::size_t kMostSuggestions = 20;
  std::map<std::string, std::string> meant;
  if (unserved.size() > kMostSuggestions) return meant;
  const std::vector<std::string_view> known{served.begin(), served.end()};
  for (const std::string& name : unserved) {
    if (const auto found = base::nearest(name, known)) meant.emplace(name, *found);
  }
  return meant;
}

}  // namespace easyretry::server
