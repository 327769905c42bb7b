#pragma once
// Failures of user code as text: for the store, for callbacks, and for the log.

#include <exception>
#include <string>

#include <easyretry/options.h>

namespace easyretry::engine {

// The message itself, or a substitute for an empty one: a failure without a message would not be recognised as one.
std::string spoken(std::string message);

// The message of an exception, followed by those nested in it; never empty.
std::string message_of(const std::exception_ptr& thrown);

// For the log: the type of the exception and of those nested in it, and what EngineOptions::failure_details says of it:
// "bank::NotPaid, nested bank::Timeout: <details>". Empty without an exception, or if nothing is logged.
std::string thrown_text(const std::exception_ptr& thrown, const EngineOptions& options);

// An error text in the form that is stored: UTF-8 without NUL bytes, at most 4 KiB. A longer text keeps its start and
// its end, with a mark between them.
std::string kept_error(const std::string& text);

}  // namespace easyretry::engine
