#include "trace/otlp.h"

#include <optional>

#include <easyretry/version.h>

#include "base/traceparent.h"
#include "base/utf8.h"
#include "trace/wire.h"

namespace easyretry::trace {
namespace {

// The numbers of fields, from opentelemetry/proto/trace/v1/trace.proto and its neighbours.
namespace request {
constexpr int kResourceSpans = 1;
}
namespace resource_spans {
constexpr int kResource = 1;
constexpr int kScopeSpans = 2;
}  // namespace resource_spans
namespace scope_spans {
constexpr int kScope = 1;
constexpr int kSpans = 2;
}  // namespace scope_spans
namespace scope {
constexpr int kName = 1;
constexpr int kVersion = 2;
}  // namespace scope
namespace span_field {
constexpr int kTraceId = 1;
constexpr int kSpanId = 2;
constexpr int kParentSpanId = 4;
constexpr int kName = 5;
constexpr int kKind = 6;
constexpr int kStart = 7;
constexpr int kEnd = 8;
constexpr int kAttributes = 9;
constexpr int kLinks = 13;
constexpr int kStatus = 15;
}  // namespace span_field
namespace status {
constexpr int kMessage = 2;
constexpr int kCode = 3;
constexpr std::uint64_t kError = 2;
}  // namespace status
namespace key_value {
constexpr int kKey = 1;
constexpr int kValue = 2;
constexpr int kString = 1;  // of an AnyValue
constexpr int kInt = 3;
}  // namespace key_value

std::uint64_t kind_number(Span::Kind kind) {
  switch (kind) {
    case Span::Kind::internal: return 1;
    case Span::Kind::client: return 3;
    case Span::Kind::producer: return 4;
    case Span::Kind::consumer: return 5;
  }
  return 0;
}

int hex_value(char digit) {
  return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

// Of lower-case digits, as in a traceparent.
std::string bytes_of(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(hex_value(hex[i]) << 4 | hex_value(hex[i + 1])));
  }
  return bytes;
}

void add_text(WireMessage& message, int field, std::string_view text) {
  if (base::invalid_utf8(text) == std::string_view::npos) return message.bytes(field, text);
  message.bytes(field, base::storable_utf8(text));
}

WireMessage attribute(const std::string& name, const Span::Value& value) {
  WireMessage any;
  if (const auto* text = std::get_if<std::string>(&value)) add_text(any, key_value::kString, *text);
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    any.number(key_value::kInt, static_cast<std::uint64_t>(*number));
  }
  WireMessage pair;
  add_text(pair, key_value::kKey, name);
  pair.message(key_value::kValue, any);
  return pair;
}

// The ids are the first fields of a span and of a link.
void add_ids(WireMessage& message, std::string_view traceparent) {
  const auto ids = base::read_traceparent(traceparent);
  if (!ids) return;
  message.bytes(span_field::kTraceId, bytes_of(ids->trace));
  message.bytes(span_field::kSpanId, bytes_of(ids->span));
}

std::uint64_t nanoseconds(std::chrono::nanoseconds since_epoch) {
  return static_cast<std::uint64_t>(since_epoch.count());
}

WireMessage span_message(const Span& span) {
  WireMessage message;
  add_ids(message, span.traceparent);
  if (!span.parent.empty()) message.bytes(span_field::kParentSpanId, bytes_of(span.parent));
  add_text(message, span_field::kName, span.name);
  message.number(span_field::kKind, kind_number(span.kind));
  const std::chrono::nanoseconds began = span.began_at.time_since_epoch();
  message.fixed64(span_field::kStart, nanoseconds(began));
  message.fixed64(span_field::kEnd, nanoseconds(began + span.took));
  for (const auto& [name, value] : span.attributes) message.message(span_field::kAttributes, attribute(name, value));
  for (const std::string& linked : span.links) {
    WireMessage link;
    add_ids(link, linked);
    message.message(span_field::kLinks, link);
  }
  if (span.failed) {
    WireMessage status;
    add_text(status, status::kMessage, span.error);
    status.number(status::kCode, status::kError);
    message.message(span_field::kStatus, status);
  }
  return message;
}

// The first field of this number; nullopt: there is none.
std::optional<WireField> find(std::string_view message, std::uint64_t number) {
  WireReader reader{message};
  while (const auto field = reader.next()) {
    if (field->number == number) return field;
  }
  return std::nullopt;
}

}  // namespace

std::string export_request(const std::vector<std::pair<std::string, std::string>>& resource,
                           std::span<const Span> spans) {
  WireMessage attributes;
  for (const auto& [name, value] : resource) attributes.message(1, attribute(name, value));
  WireMessage scope_name;
  scope_name.bytes(scope::kName, "easyretry");
  scope_name.bytes(scope::kVersion, EASYRETRY_VERSION);
  WireMessage of_scope;
  of_scope.message(scope_spans::kScope, scope_name);
  for (const Span& span : spans) of_scope.message(scope_spans::kSpans, span_message(span));
  WireMessage of_resource;
  of_resource.message(resource_spans::kResource, attributes);
  of_resource.message(resource_spans::kScopeSpans, of_scope);
  WireMessage all;
  all.message(request::kResourceSpans, of_resource);
  return all.take();
}

std::uint64_t rejected_spans(std::string_view response) {
  constexpr std::uint64_t kPartialSuccess = 1;
  constexpr std::uint64_t kRejectedSpans = 1;
  const auto partial = find(response, kPartialSuccess);
  if (!partial) return 0;
  const auto rejected = find(partial->bytes, kRejectedSpans);
  return rejected ? rejected->value : 0;
}

}  // namespace easyretry::trace
