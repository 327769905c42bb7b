#include "service/service.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/harmless.h"

namespace easyretry::app {
namespace {

std::string percent_encoded(const std::string& text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    encoded += plain ? std::string{c} : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

// The API advises in terms of HTTP.
std::string hint_here(const std::string& code, const std::string& hint) {
  if (code == "unauthorized") {
    return "put the token in EASYRETRY_TOKEN, or give its file with --token-file; `easyretry token create` creates one";
  }
  if (code == "forbidden_namespace") return "leave out --space, or use a token for that namespace";
  if (code == "duplicate_key") return "the existing task is not affected; leave out --on-duplicate to get its id";
  return hint;
}

std::string text_of(const nlohmann::json& error) {
  const std::string hint = hint_here(error.value("code", ""), error.value("hint", ""));
  return base::one_line(error.value("message", "") + (hint.empty() ? "" : "; " + hint));
}

}  // namespace

std::string target_of(const Ask& ask) {
  std::string target = "/v1";
  for (const std::string& segment : ask.path) target += "/" + percent_encoded(segment);
  char before = '?';
  for (const auto& [name, value] : ask.query) {
    target += before + percent_encoded(name) + "=" + percent_encoded(value);
    before = '&';
  }
  return target;
}

Refused::Refused(int status, const nlohmann::json& body)
    : std::runtime_error(text_of(body.at("error"))), status_(status) {}

}  // namespace easyretry::app
