#include "base/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace easyretry::base {
namespace {

// The distance is at least this, which costs nothing.
std::size_t difference_in_length(std::string_view a, std::string_view b) {
  return std::max(a.size(), b.size()) - std::min(a.size(), b.size());
}

// How many letters must be added, removed, replaced, or swapped with the next one: the optimal string alignment.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j] + (a[i] == b[j] ? 0 : 1), last[j + 1] + 1, row[j] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) row[j + 1] = std::min(row[j + 1], before_last[j - 1] + 1);
    }
    before_last = std::exchange(last, std::move(row));
  }
  return last.back();
}

// "warn" of "warning". Two letters are the beginning of too many words.
bool is_beginning(std::string_view word, std::string_view candidate) {
  return word.size() > 2 && candidate.starts_with(word);
}

// A longer word is hardly a typo, and computing the distance costs the product of both lengths.
constexpr std::size_t kLongestWord = 200;

}  // namespace

std::optional<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const bool begins = is_beginning(word, candidate);
    if (!begins && difference_in_length(word, candidate) >= least) continue;
    const std::size_t apart = begins ? 1 : distance(word, candidate);
    if (apart < least && 2 * apart < candidate.size()) {
      least = apart;
      best = candidate;
    }
  }
  return best;
}

}  // namespace easyretry::base
