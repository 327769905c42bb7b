#pragma once
// Writes metrics in the text format of Prometheus, grouped by name.

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

  // Once for each name, before its values. A name without values is written, too.
  void declare(MetricKind kind, std::string_view name, std::string_view help);
  void add(std::string_view name, const Labels& labels, double value);
  // A histogram; its values are divided by `to_a_unit`, such as 1e9 from nanoseconds to seconds.
  void add(std::string_view name, const Labels& labels, const engine::Histogram::Reading& reading, double to_a_unit);

  std::string text() const;

 private:
  struct Families;
  const std::unique_ptr<Families> families_;
};

}  // namespace easyretry::server
