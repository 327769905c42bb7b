#include "engine/error_text.h"

#include <cstdlib>
#include <memory>
#include <string_view>
#include <typeinfo>

#include <cxxabi.h>

#include "base/utf8.h"

namespace easyretry::engine {
namespace {

constexpr std::size_t kMaxErrorText = 4096;
// Bytes kept of the end, which has the reason of giving up and nested messages.
constexpr std::size_t kErrorTextEnd = 512;

void erase_all(std::string& text, std::string_view part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
}

// The name in its usual form: without the class that std::throw_with_nested derives, and without library versions.
std::string name_of(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain{abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                     &std::free};
  std::string name = plain != nullptr ? plain.get() : type.name();
  constexpr std::string_view kNested = "std::_Nested_exception<";
  if (name.starts_with(kNested)) name = name.substr(kNested.size(), name.size() - kNested.size() - 1);
  erase_all(name, "__cxx11::");
  erase_all(name, "[abi:cxx11]");
  return name;
}

// Only inside a catch block. A type that C++ does not know comes from another language.
std::string current_type() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  return type != nullptr ? name_of(*type) : "a foreign exception";
}

std::string types_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::nested_exception& outer) {
    return current_type() + (outer.nested_ptr() ? ", nested " + types_of(outer.nested_ptr()) : "");
  } catch (...) {
    return current_type();
  }
}

std::string details_of(const std::exception_ptr& thrown, const EngineOptions& options) {
  try {
    std::rethrow_exception(thrown);
  } catch (...) {
    try {
      return options.failure_details(thrown);
    } catch (...) {
      return "failure_details threw: " + message_of(std::current_exception());
    }
  }
}

}  // namespace

std::string spoken(std::string message) {
  return message.empty() ? "failed without a message" : std::move(message);
}

std::string message_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    const auto* outer = dynamic_cast<const std::nested_exception*>(&e);
    if (outer == nullptr || outer->nested_ptr() == nullptr) return spoken(e.what());
    return spoken(e.what()) + ": " + message_of(outer->nested_ptr());
  } catch (const std::string& text) {
    return spoken(text);
  } catch (const char* text) {
    return text == nullptr ? "unknown exception" : spoken(text);
  } catch (...) {
    return "unknown exception";
  }
}

std::string thrown_text(const std::exception_ptr& thrown, const EngineOptions& options) {
  if (thrown == nullptr || !options.log) return {};
  const std::string types = types_of(thrown);
  const std::string details = options.failure_details ? details_of(thrown, options) : "";
  return details.empty() ? types : types + ": " + kept_error(details);
}

std::string kept_error(const std::string& text) {
  if (text.size() <= kMaxErrorText) {
    std::string whole = base::storable_utf8(text);
    if (whole.size() <= kMaxErrorText) return whole;
  }
  const std::string end = base::storable_utf8(base::last_utf8(text, kErrorTextEnd));
  const std::string mark = " … (cut, " + std::to_string(text.size()) + " bytes in total) … ";
  const std::string_view kept_end = base::last_utf8(end, kErrorTextEnd);
  const std::string start = base::storable_utf8(base::cut_utf8(text, kMaxErrorText));
  const std::string_view kept_start = base::cut_utf8(start, kMaxErrorText - mark.size() - kept_end.size());
  return std::string{kept_start} + mark + std::string{kept_end};
}

}  // namespace easyretry::engine
