// /v1/series: counts over time, as this daemon has seen them since its start.

#include "server/answer_values.h"
#include "server/endpoints.h"
#include "server/refusal.h"
#include "server/request_fields.h"

namespace easyretry::server {
namespace {

// A step in which nothing was measured is null.
using Values = std::vector<std::optional<std::int64_t>>;

struct LinesAnswer {
  Values stored{};
  Values succeeded{};
  Values failed_attempts{};
  Values ended_badly{};
  Values backlog{};
  Values late_p50_ms{};
  Values late_p99_ms{};
};
EASYRETRY_JSON(LinesAnswer, stored, succeeded, failed_attempts, ended_badly, backlog, late_p50_ms, late_p99_ms)

struct SeriesAnswer {
  Millis step_ms{};
  ShownTime from;
  LinesAnswer series{};
};
EASYRETRY_JSON(SeriesAnswer, step_ms, from, series)

SeriesStep step_of(const Conditions& asked) {
  const auto step = asked.find("step");
  if (step == asked.end() || step->second == "10s") return SeriesStep::ten_seconds;
  if (step->second == "1m") return SeriesStep::minute;
  throw Refusal{{422, "invalid", "the parameter step: unknown value \"" + step->second + "\"; known: 10s, 1m"}};
}

std::optional<std::int64_t> number(const std::optional<Millis>& time) {
  return time ? std::optional{time->count()} : std::nullopt;
}

void append(LinesAnswer& lines, const std::optional<SeriesPoint>& point) {
  const auto add = [&](Values& values, auto member) {
    values.push_back(point ? std::optional{*point.*member} : std::nullopt);
  };
  add(lines.stored, &SeriesPoint::stored);
  add(lines.succeeded, &SeriesPoint::succeeded);
  add(lines.failed_attempts, &SeriesPoint::failed_attempts);
  add(lines.ended_badly, &SeriesPoint::ended_badly);
  add(lines.backlog, &SeriesPoint::backlog);
  lines.late_p50_ms.push_back(point ? number(point->late_p50) : std::nullopt);
  lines.late_p99_ms.push_back(point ? number(point->late_p99) : std::nullopt);
}

http::Response series(const Call& call) {
  require_known(call.request, {"handler", "step"});
  const Conditions& asked = call.request.target.query;
  const auto handler = asked.find("handler");
  const SeriesStep step = step_of(asked);
  const Series::Shown shown = call.name_space->series().read(
      step, handler == asked.end() ? std::string{} : handler->second, call.name_space->core().clock().now());
  SeriesAnswer answer{length_of(step), shown.from};
  for (const auto& point : shown.points) append(answer.series, point);
  return {.body = to_json(answer)};
}

}  // namespace

void add_series_endpoint(Api& api) {
  api.add(http::Method::get, "/v1/series", Right::view, PlainEndpoint{series});
}

}  // namespace easyretry::server
