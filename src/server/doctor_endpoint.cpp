// /v1/doctor: the checks of `easyretry doctor` that a daemon can run on itself.

#include <algorithm>
#include <charconv>
#include <map>

#include "server/answer_values.h"
#include "server/doctor.h"
#include "server/endpoints.h"
#include "server/refusal.h"
#include "server/request_fields.h"

namespace easyretry::server {
namespace {

using namespace std::chrono_literals;

constexpr Millis kMaxLate = 5min;  // unless the request says otherwise

using ShownValues = std::map<std::string, ShownText>;

struct CheckAnswer {
  std::string_view check;
  std::string_view result;
  ShownText what;
  ShownText todo;
  std::string_view code;
  ShownValues values{};
  std::vector<ShownValues> items{};
};
EASYRETRY_JSON(CheckAnswer, check, result, what, todo, code, values, items)

struct DoctorAnswer {
  bool healthy = true;
  std::vector<CheckAnswer> checks{};
};
EASYRETRY_JSON(DoctorAnswer, healthy, checks)

Millis max_late(const http::Request& request) {
  const auto given = request.target.query.find("max_late_ms");
  if (given == request.target.query.end()) return kMaxLate;
  const std::string& text = given->second;
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number >= 0) return Millis{number};
  throw Refusal{{422, "invalid", "the parameter max_late_ms: \"" + text + "\" is not a number of milliseconds"}};
}

// The answer refers to the values.
ShownValues shown(const std::map<std::string, std::string>& values) {
  ShownValues texts;
  for (const auto& [name, value] : values) texts.emplace(name, ShownText{value});
  return texts;
}

http::Response answer_of(const Findings& findings) {
  DoctorAnswer answer;
  for (const Finding& one : findings) {
    CheckAnswer& check =
        answer.checks.emplace_back(CheckAnswer{one.check, to_string(one.health), {one.what}, {one.todo}, one.code});
    check.values = shown(one.values);
    for (const auto& item : one.items) check.items.push_back(shown(item));
    answer.healthy &= one.health != Health::fail;
  }
  return {.body = to_json(answer)};
}

http::Response doctor(const Call& call, bool runs_tasks) {
  require_known(call.request, {"max_late_ms"});
  const Lateness bounds{call.name_space->core().live_options().grace.load(), max_late(call.request)};
  Findings findings;
  if (runs_tasks) findings = check_instances(*call.name_space, call.name_space->core().cluster(), bounds);
  const Findings of_tasks = check_tasks(*call.name_space, runs_tasks);
  findings.insert(findings.end(), of_tasks.begin(), of_tasks.end());
  return answer_of(findings);
}

}  // namespace

void add_doctor_endpoint(Api& api, bool runs_tasks) {
  api.add(http::Method::get, "/v1/doctor", Right::view,
          PlainEndpoint{[runs_tasks](const Call& call) { return doctor(call, runs_tasks); }});
}

}  // namespace easyretry::server
