#pragma once
// Numbers in the text format of Prometheus, those of one name together.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/measures.h"

namespace easyretry::server {

enum class MetricKind { counter, gauge, histogram };

class MetricText {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  MetricText();
  ~MetricText();
  MetricText(const MetricText&) = delete;
  MetricText& operator=(const MetricText&) = delete;

  // Each name once and before its numbers; it is told of even if there are none.
  void declare(MetricKind kind, std::string_view name, std::string_view help);
  void add(std::string_view name, const Labels& labels, double value);
  // A histogram, of whose numbers so many make one of the unit that is told: 1e9 nanoseconds a second.
  void add(std::string_view name, const Labels& labels, const engine::Histogram::Reading& reading, double to_a_unit);

  std::string text() const;

 private:
  struct Families;
  const std::unique_ptr<Families> families_;
};

}  // namespace easyretry::server
