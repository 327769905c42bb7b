#include "http/beast/request_head.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/random.h"

namespace easyretry::http {
namespace {

namespace beast_http = boost::beast::http;
using Error = beast_http::error;

constexpr std::size_t kLongestRequestId = 64;

Method method_of(beast_http::verb verb) {
  switch (verb) {
    case beast_http::verb::get: return Method::get;
    case beast_http::verb::head: return Method::head;
    case beast_http::verb::post: return Method::post;
    case beast_http::verb::put: return Method::put;
    case beast_http::verb::patch: return Method::patch;
    case beast_http::verb::delete_: return Method::del;
    default: return Method::other;
  }
}

bool harmless(std::string_view id) {
  return !id.empty() && id.size() <= kLongestRequestId && std::ranges::all_of(id, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
}

// Some servers read "5, 5" as one length, others refuse it.
bool is_number(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

Problem bad_request(std::string message) {
  return {400, "bad_request", std::move(message)};
}

}  // namespace

std::optional<Problem> objection(const RequestHead& head) {
  if (head.version() != 10 && head.version() != 11) return Problem{505, "bad_version", "this is an HTTP/1.1 server"};
  if (head.count(beast_http::field::host) > 1) return bad_request("more than one Host");
  if (head.version() == 11 && head.count(beast_http::field::host) == 0) return bad_request("there is no Host");
  const auto encoding = head[beast_http::field::transfer_encoding];
  if (!encoding.empty() && !boost::beast::iequals(encoding, "chunked")) {
    return Problem{501, "not_implemented", "the only supported transfer encoding is chunked"};
  }
  if (head.count(beast_http::field::transfer_encoding) > 1) return bad_request("more than one Transfer-Encoding");
  if (head.count(beast_http::field::content_length) > 1) return bad_request("more than one Content-Length");
  if (!is_number(head[beast_http::field::content_length])) return bad_request("Content-Length is not one number");
  if (!encoding.empty() && head.count(beast_http::field::content_length) > 0) {
    return bad_request("both Transfer-Encoding and Content-Length");
  }
  if (!encoding.empty() && head.version() == 10) return bad_request("HTTP/1.0 has no Transfer-Encoding");
  return std::nullopt;
}

std::optional<Problem> problem_of(boost::beast::error_code code) {
  if (code == Error::end_of_stream || code == Error::partial_message) return std::nullopt;
  if (code == Error::header_limit) return Problem{431, "header_too_large", "the request header is too long"};
  if (code == Error::body_limit) return Problem{413, "body_too_large", "the request body is too long"};
  if (code == boost::beast::error::timeout) return Problem{408, "timeout", "the request did not arrive in time"};
  if (code.category() == beast_http::make_error_code(Error::bad_method).category()) return bad_request(code.message());
  return std::nullopt;
}

std::optional<Request> to_request(const RequestHead& head) {
  auto target = parse_target({head.target().data(), head.target().size()});
  if (!target) return std::nullopt;
  Request request;
  request.method = method_of(head.method());
  request.target = *std::move(target);
  for (const auto& field : head) {
    std::string name{field.name_string()};
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    request.headers.insert_or_assign(std::move(name), std::string{field.value()});
  }
  const auto given = request.header("x-request-id");
  request.id = given && harmless(*given) ? std::string{*given} : new_request_id();
  return request;
}

std::string new_request_id() {
  thread_local base::Random random{base::random_seed()};
  return fmt::format("{:016x}", random.next());
}

}  // namespace easyretry::http
