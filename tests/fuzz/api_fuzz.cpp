// Raw requests to the API on a store in memory, with tokens of every role. Every request gets an answer, its body is
// JSON, and it is not a server error.

#include <chrono>
#include <fstream>
#include <future>

#include <boost/beast/http.hpp>

#include <easyretry/detail/json_text.h>

#include "fuzz/pace.h"
#include "http/beast/request_head.h"
#include "server/endpoints.h"
#include "storage/open.h"
#include "support/temp_folder.h"

using namespace easyretry;
namespace beast = boost::beast;

namespace {

constexpr int kServerError = 500;
constexpr int kUnavailable = 503;
constexpr std::chrono::milliseconds kPatience{20};  // for a request that waits for tasks
constexpr std::chrono::seconds kTooLong{10};

// The secret of each token is its name, so that seeds are readable.
void write_tokens(const std::filesystem::path& file) {
  server::Tokens tokens{file};
  for (const char* role : {"viewer", "submitter", "worker", "operator"}) {
    tokens.add({role, role, "default", server::hash_of(role)});
  }
  tokens.add({"admin", "admin+payloads", std::string{server::kAnyNamespace}, server::hash_of("admin")});
}

class FuzzedApi {
 public:
  FuzzedApi() {
    Config config;
    config.engine.membership = "alone";
    config.handlers["mail"].policy.success_when = "result.code == 200";
    namespace_ = std::make_shared<server::Namespace>(storage::open_store("memory:", system_clock()), config);
    write_tokens(folder_.path() / "tokens");
    api_ = std::make_unique<server::Api>(server::Namespaces{{"default", namespace_}},
                                         std::make_shared<server::Tokens>(folder_.path() / "tokens"),
                                         server::ApiOptions{"default", {"localhost"}, "", 0, {}});
    server::add_task_endpoints(*api_);
    server::add_task_end_endpoints(*api_);
    server::add_lease_endpoints(*api_);
    server::add_system_endpoints(*api_);
    namespace_->start();
  }

  http::Response ask(http::Request request) {
    const auto answered = std::make_shared<std::promise<http::Response>>();
    std::function<void()> leave = [] {};
    request.when_gone = [&leave](std::function<void()> tell) { leave = std::move(tell); };
    auto answer = answered->get_future();
    http::Admission admission = api_->admit(request);
    if (const auto* problem = std::get_if<http::Problem>(&admission)) return http::to_response(*problem, request.id);
    std::get<http::Admitted>(admission).serve(
        std::move(request), [answered](http::Response response) { answered->set_value(std::move(response)); });
    if (answer.wait_for(kPatience) != std::future_status::ready) leave();
    fuzz::must(answer.wait_for(kTooLong) == std::future_status::ready, "every request is answered");
    return answer.get();
  }

 private:
  const test::TempFolder folder_;
  std::shared_ptr<server::Namespace> namespace_;
  std::unique_ptr<server::Api> api_;
};

std::optional<http::Request> read(std::string_view text) {
  beast::http::request_parser<beast::http::string_body> parser;
  beast::error_code code;
  parser.eager(true);
  parser.put(boost::asio::buffer(text), code);
  if (!code && !parser.is_done()) parser.put_eof(code);
  if (code) {
    http::problem_of(code);
    return std::nullopt;
  }
  if (const auto problem = http::objection(parser.get())) {
    http::to_response(*problem, "id");
    return std::nullopt;
  }
  auto request = http::to_request(parser.get());
  if (request) request->body = parser.get().body();
  return request;
}

void serve(std::string_view text) {
  static FuzzedApi api;
  auto request = read(text);
  if (!request) return;
  const http::Response response = api.ask(*std::move(request));
  fuzz::must(response.status < kServerError || response.status == kUnavailable, "no request is the server's fault");
  if (response.content_type == "application/json") JsonDocument::parse(response.body);
  response.sent(true);
}

// A plain request: a submission.
std::string plain(std::size_t size) {
  const std::string head = "POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer submitter\r\n";
  const std::string body = fuzz::repeated(R"({"handler": "mail", "args": [0)", R"(, {"to": "ann", "n": #})", "]}",
                                          size - std::min(size, head.size()));
  return head + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run_at_pace(fuzz::text_of(data, size), serve, plain);
  return 0;
}
