#pragma once
// A parsed message of Beast's as a Request of ours, or why it is not taken.

#include <optional>
#include <string>

#include <boost/beast/http.hpp>

#include "http/problem.h"

namespace easyretry::http {

using RequestHead = boost::beast::http::request_header<>;

// What would be read differently by somebody between us and the client, or not at all. Nullopt: all right.
std::optional<Problem> objection(const RequestHead& head);

// What an error while reading means; nullopt: there is nobody to tell.
std::optional<Problem> problem_of(boost::beast::error_code code);

// Nullopt: its target cannot be read.
std::optional<Request> to_request(const RequestHead& head);

std::string new_request_id();

}  // namespace easyretry::http
