#include "server/metric_text.h"

#include <functional>
#include <map>
#include <stdexcept>

#include <prometheus/text_serializer.h>

#include "base/harmless.h"

namespace easyretry::server {
namespace {

using prometheus::ClientMetric;

prometheus::MetricType type_of(MetricKind kind) {
  switch (kind) {
    case MetricKind::counter: return prometheus::MetricType::Counter;
    case MetricKind::gauge: return prometheus::MetricType::Gauge;
    case MetricKind::histogram: return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

// Handler names may contain any characters, and different names must stay different. The format can escape a line
// break, but no other control character.
std::string label_text(std::string_view value) {
  std::string text;
  for (auto end = value.find('\n'); end != std::string_view::npos; end = value.find('\n')) {
    text += base::with_escapes(value.substr(0, end)) + "\n";
    value.remove_prefix(end + 1);
  }
  return text + base::with_escapes(value);
}

ClientMetric labelled(const MetricText::Labels& labels) {
  ClientMetric metric;
  for (const auto& [name, value] : labels) metric.label.push_back({name, label_text(value)});
  return metric;
}

}  // namespace

struct MetricText::Families {
  std::vector<prometheus::MetricFamily> in_order;
  std::map<std::string, std::size_t, std::less<>> by_name;

  prometheus::MetricFamily& find(std::string_view name) {
    const auto found = by_name.find(name);
    if (found == by_name.end()) throw std::logic_error("metric is not declared: " + std::string{name});
    return in_order[found->second];
  }
};

MetricText::MetricText() : families_(std::make_unique<Families>()) {}
MetricText::~MetricText() = default;

void MetricText::declare(MetricKind kind, std::string_view name, std::string_view help) {
  families_->by_name.emplace(name, families_->in_order.size());
  families_->in_order.push_back({std::string{name}, std::string{help}, type_of(kind), {}});
}

void MetricText::add(std::string_view name, const Labels& labels, double value) {
  ClientMetric metric = labelled(labels);
  metric.counter.value = value;
  metric.gauge.value = value;  // the type of the family selects one of them
  families_->find(name).metric.push_back(std::move(metric));
}

void MetricText::add(std::string_view name, const Labels& labels, const engine::Histogram::Reading& reading,
                     double to_a_unit) {
  ClientMetric metric = labelled(labels);
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < reading.bounds.size(); ++i) {
    so_far += reading.counts[i];
    metric.histogram.bucket.push_back({so_far, static_cast<double>(reading.bounds[i]) / to_a_unit});
  }
  metric.histogram.sample_count = so_far + reading.counts.back();
  metric.histogram.sample_sum = static_cast<double>(reading.sum) / to_a_unit;
  families_->find(name).metric.push_back(std::move(metric));
}

std::string MetricText::text() const {
  return prometheus::TextSerializer{}.Serialize(families_->in_order);
}

}  // namespace easyretry::server
