#pragma once
// Converts a message that Beast has parsed to a Request, or says why it is refused.

#include <optional>
#include <string>

#include <boost/beast/http.hpp>

#include "http/message.h"

namespace easyretry::http {

using RequestHead = boost::beast::http::request_header<>;

// Why the head is refused: a proxy between the client and this server might read it differently. Nullopt if it is fine.
std::optional<Problem> objection(const RequestHead& head);

// The response to an error while reading; nullopt if the connection is lost.
std::optional<Problem> problem_of(boost::beast::error_code code);

// Nullopt if the target is invalid.
std::optional<Request> to_request(const RequestHead& head);

std::string new_request_id();

}  // namespace easyretry::http
