#include "storage/history.h"

#include <algorithm>
#include <array>

namespace easyretry::storage {

std::string_view to_string(History history) {
  switch (history) {
    case History::none: return "none";
    case History::failures: return "failures";
    case History::all: return "all";
  }
  return "unknown";
}

std::optional<History> parse_history(std::string_view text) {
  constexpr std::array kAll{History::none, History::failures, History::all};
  const auto* found =
      std::find_if(kAll.begin(), kAll.end(), [&](History history) { return to_string(history) == text; });
  if (found == kAll.end()) return std::nullopt;
  return *found;
}

bool keeps(History history, Outcome outcome) {
  if (outcome == Outcome::quarantined || outcome == Outcome::parked) return true;
  switch (history) {
    case History::none: return false;
    case History::failures: return outcome != Outcome::succeeded;
    case History::all: return true;
  }
  return true;
}

}  // namespace easyretry::storage
