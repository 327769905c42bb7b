#include "tasks/change_many.h"

#include <chrono>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "confirmation.h"
#include "printing/json_text.h"
#include "progress_bar.h"

namespace easyretry::app {
namespace {

using namespace std::chrono_literals;

nlohmann::json request_of(const ManyChanges& changes) {
  nlohmann::json request{{"action", changes.verb}};
  if (changes.filters.empty()) {
    request["everything"] = true;
  } else {
    request["filter"] = in_terms_of_the_api(changes.filters);
  }
  if (changes.untold) request["untold"] = true;
  return request;
}

nlohmann::json ask(Service& service, const nlohmann::json& request) {
  return service.ask({.method = Method::post, .path = {"bulk"}, .body = request.dump()});
}

void print_foreseen(const ManyChanges& changes, const nlohmann::json& foreseen) {
  if (changes.as_json) return fmt::print("{}\n", json_text(foreseen));
  fmt::print("{} tasks would be {}\n", foreseen.value("matched", 0), changes.past);
  for (const nlohmann::json& id : foreseen.at("sample")) fmt::print("{}\n", id.get<std::string>());
  if (foreseen.at("sample").size() < foreseen.value("matched", std::size_t{0})) fmt::print("…\n");
}

nlohmann::json wait_for_the_end(Service& service, nlohmann::json job) {
  const ProgressBar bar;
  while (!job.contains("ended_at")) {
    std::this_thread::sleep_for(100ms);
    job = service.ask({.path = {"bulk", job.value("id", "")}});
    const auto done = job.value("changed", std::int64_t{0}) + job.value("skipped", std::int64_t{0});
    const auto of = job.value("matched", std::int64_t{0});
    bar.show(done, of, fmt::format("{} of {}", done, of));
  }
  return job;
}

}  // namespace

void change_many(Service& service, const ManyChanges& changes) {
  nlohmann::json request = request_of(changes);
  request["dry_run"] = true;
  const nlohmann::json foreseen = ask(service, request);
  if (changes.dry_run) return print_foreseen(changes, foreseen);
  const auto matched = foreseen.value("matched", std::int64_t{0});
  if (matched > 0 && !changes.yes) require_yes(fmt::format("{} {} tasks?", changes.verb, matched));
  // Those that were agreed to, and not what came since.
  request["filter"]["created_until"] = foreseen.at("created_until");
  request.erase("everything");
  request["dry_run"] = false;
  request["most"] = std::max<std::int64_t>(1, matched);
  const nlohmann::json job = wait_for_the_end(service, ask(service, request));
  if (changes.as_json) {
    fmt::print("{}\n", json_text(job));
  } else {
    fmt::print("{} {}, {} skipped\n", job.value("changed", 0), changes.past, job.value("skipped", 0));
  }
  if (job.value("state", "") != "done") {
    throw std::runtime_error(fmt::format("the job {} before it was done{}; run it again for the rest",
                                         job.value("state", ""),
                                         job.contains("error") ? ": " + job.value("error", "") : ""));
  }
}

}  // namespace easyretry::app
