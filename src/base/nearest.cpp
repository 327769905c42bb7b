#include "base/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace easyretry::base {
namespace {

// Levenshtein's distance: how many letters must be added, dropped or changed.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

// Nobody mistypes a word this long into a known one, and the distance costs the product of both lengths.
constexpr std::size_t kLongestWord = 200;

}  // namespace

std::optional<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& known) {
  if (word.size() > kLongestWord) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t apart = distance(word, candidate);
    if (apart < std::min(least, candidate.size())) {
      least = apart;
      best = candidate;
    }
  }
  return best;
}

}  // namespace easyretry::base
