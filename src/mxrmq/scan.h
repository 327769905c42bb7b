#pragma once
// Walks over a queue in slices, while others work on it: what is found is as of some moment, and what was there all the
// time is found. Throws ServerError.

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mxrmq/link.h"

namespace easyretry::mxrmq {

enum class Where { payloads, dlq, own };

std::string name_of(Where where);

struct FoundField {
  enum class Kind {
    body,
    companion,
    lone
  };  // a companion is a topic, or our books; alone, of a message without a body
  std::string id;
  Kind kind = Kind::body;
  std::string topic;  // without the prefix
};

void each_slice(Link& link, Where where, const std::function<void(const std::vector<FoundField>&)>& visit);
void each_slice(Link& link, const std::string& list, const std::function<void(const std::vector<std::string>&)>& visit);

// Those that messages name, and those of the url.
std::set<std::string> topics_of(Link& link);

}  // namespace easyretry::mxrmq
