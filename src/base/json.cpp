// JsonDocument and JsonView: a tree of our own, filled by CanonicalReader or nlohmann's tokenizer. Its own tree would
// keep the last of two equal keys and would not say where a value stands.

#include <algorithm>
#include <variant>

#include <nlohmann/json.hpp>

#include <easyretry/detail/json_text.h>

#include "base/canonical_reader.h"
#include "base/json_path.h"

namespace easyretry {
namespace detail {

struct JsonEntry;

struct JsonNode {
  using Items = std::vector<JsonNode>;
  using Entries = std::vector<JsonEntry>;  // sorted by key
  // An integer is unsigned where it is not negative: 0 … 2^64-1.
  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Items, Entries> value;
};

struct JsonEntry {
  std::string key;
  JsonNode node;
};

namespace {

bool by_key(const JsonEntry& a, const JsonEntry& b) {
  return a.key < b.key;
}

bool not_in_order(const JsonEntry& a, const JsonEntry& b) {
  return a.key >= b.key;
}

// Growing from one would move the first member twice more. Not larger: a text of many {"a":1} would take 72 bytes of
// memory for each byte instead of 36.
constexpr std::size_t kFirstMembers = 4;

// "$.orders[2]" of the node inside `from`, or nothing. Nodes do not know their parents: a path is wanted only when
// something went wrong, and then a walk over at most one payload is cheap.
std::optional<std::string> path_to(const JsonNode& wanted, const JsonNode& from) {
  if (&wanted == &from) return "";
  if (const auto* items = std::get_if<JsonNode::Items>(&from.value)) {
    for (std::size_t i = 0; i < items->size(); ++i) {
      if (auto rest = path_to(wanted, (*items)[i])) return base::path_step(i) + *rest;
    }
  }
  if (const auto* entries = std::get_if<JsonNode::Entries>(&from.value)) {
    for (const JsonEntry& entry : *entries) {
      if (auto rest = path_to(wanted, entry.node)) return base::path_step(entry.key) + *rest;
    }
  }
  return std::nullopt;
}

std::string full_path(const JsonNode& wanted, const JsonNode& root) {
  return "$" + path_to(wanted, root).value_or("");
}

// Receives the tokens. An open container is the last child of its parent, which does not grow meanwhile, so the
// pointers in open_ stay valid.
class TreeBuilder {
 public:
  explicit TreeBuilder(JsonNode& root) : root_(root) {}

  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) { return add(value); }
  bool number_float(double value, std::string_view) { return add(value); }
  bool string(std::string_view value) { return add(std::string{value}); }
  bool binary(nlohmann::json::binary_t&) { return false; }  // only in binary formats
  bool start_array(std::size_t) { return open(JsonNode::Items{}); }
  bool start_object(std::size_t) { return open(JsonNode::Entries{}); }

  bool key(std::string_view name) {
    auto& entries = std::get<JsonNode::Entries>(open_.back()->value);
    if (entries.empty()) entries.reserve(kFirstMembers);
    entries.push_back({std::string{name}, {}});
    return true;
  }

  bool end_array() {
    open_.pop_back();
    return true;
  }

  bool end_object() {
    auto& entries = std::get<JsonNode::Entries>(open_.back()->value);
    // JSON that we wrote is sorted, so no key appears twice.
    if (std::adjacent_find(entries.begin(), entries.end(), not_in_order) != entries.end()) sort_members(entries);
    open_.pop_back();
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: …; last read: '…'", or "… number overflow
    // parsing '…'": the prefix says nothing to our readers, and what was read may be a megabyte or not even UTF-8.
    std::string text = error.what();
    text.erase(0, std::min(text.find("] ") + 2, text.size()));
    text.erase(std::min({text.find("; last read"), text.find(" parsing '"), text.size()}));
    throw JsonError("not JSON: " + text);
  }

 private:
  void sort_members(JsonNode::Entries& entries) const {
    std::sort(entries.begin(), entries.end(), by_key);
    const auto twice = std::adjacent_find(entries.begin(), entries.end(), not_in_order);
    if (twice != entries.end()) {
      throw JsonError(full_path(*open_.back(), root_) + ": the key \"" + twice->key + "\" twice in one object");
    }
  }

  template <class T>
  bool add(T&& value) {
    next_node().value = std::forward<T>(value);
    return true;
  }

  template <class T>
  bool open(T&& empty) {
    JsonNode& node = next_node();
    if (open_.size() == kJsonDepth) {
      throw JsonError(full_path(node, root_) + ": deeper than " + std::to_string(kJsonDepth) + " levels");
    }
    node.value = std::forward<T>(empty);
    open_.push_back(&node);
    return true;
  }

  JsonNode& next_node() {
    if (open_.empty()) return root_;
    if (auto* items = std::get_if<JsonNode::Items>(&open_.back()->value)) return items->emplace_back();
    return std::get<JsonNode::Entries>(open_.back()->value).back().node;
  }

  JsonNode& root_;
  std::vector<JsonNode*> open_;
};

JsonNode parse_any(std::string_view text) {
  if (text.find('\0') != text.npos) throw JsonError("not JSON: a zero byte");  // nlohmann takes it for the end
  JsonNode root;
  TreeBuilder builder{root};
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return root;
}

std::string_view describe(JsonKind kind) {
  switch (kind) {
    case JsonKind::null: return "null";
    case JsonKind::boolean: return "a boolean";
    case JsonKind::integer: return "an integer";
    case JsonKind::number: return "a number";
    case JsonKind::string: return "a string";
    case JsonKind::array: return "an array";
    case JsonKind::object: return "an object";
  }
  return "nothing known";
}

// Never the value: it may be an argument, and this text is stored as an error and logged.
std::string describe_value(const JsonNode& node, JsonKind kind, std::string_view expected) {
  if (const auto* items = std::get_if<JsonNode::Items>(&node.value)) {
    return "an array of " + std::to_string(items->size());
  }
  return expected.starts_with(describe(kind)) ? "another" : std::string{describe(kind)};
}

}  // namespace
}  // namespace detail

using detail::JsonNode;

JsonDocument::JsonDocument(std::unique_ptr<const JsonNode> root) : root_(std::move(root)) {}
JsonDocument::~JsonDocument() = default;
JsonDocument::JsonDocument(JsonDocument&&) noexcept = default;
JsonDocument& JsonDocument::operator=(JsonDocument&&) noexcept = default;

JsonDocument JsonDocument::parse(std::string_view text) {
  auto root = std::make_unique<JsonNode>();
  detail::TreeBuilder quick{*root};
  if (!base::CanonicalReader{text, quick}.read()) *root = detail::parse_any(text);
  return JsonDocument{std::move(root)};
}

JsonKind JsonView::kind() const {
  constexpr JsonKind kKinds[] = {JsonKind::null,   JsonKind::boolean, JsonKind::integer, JsonKind::integer,
                                 JsonKind::number, JsonKind::string,  JsonKind::array,   JsonKind::object};
  return kKinds[node_->value.index()];
}

bool JsonView::as_bool() const {
  expect(JsonKind::boolean);
  return std::get<bool>(node_->value);
}

std::int64_t JsonView::as_int() const {
  expect(JsonKind::integer);
  if (const auto* negative = std::get_if<std::int64_t>(&node_->value)) return *negative;
  const auto value = std::get<std::uint64_t>(node_->value);
  if (value > static_cast<std::uint64_t>(INT64_MAX)) fail("an integer up to 9223372036854775807");
  return static_cast<std::int64_t>(value);
}

std::uint64_t JsonView::as_uint() const {
  expect(JsonKind::integer);
  if (const auto* value = std::get_if<std::uint64_t>(&node_->value)) return *value;
  const auto value = std::get<std::int64_t>(node_->value);
  if (value < 0) fail("an integer that is not negative");
  return static_cast<std::uint64_t>(value);  // "-0"
}

double JsonView::as_double() const {
  if (const auto* value = std::get_if<double>(&node_->value)) return *value;
  if (const auto* value = std::get_if<std::int64_t>(&node_->value)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<std::uint64_t>(&node_->value)) return static_cast<double>(*value);
  fail("a number");
}

std::string_view JsonView::as_string() const {
  expect(JsonKind::string);
  return std::get<std::string>(node_->value);
}

std::size_t JsonView::size() const {
  if (const auto* items = std::get_if<JsonNode::Items>(&node_->value)) return items->size();
  if (const auto* entries = std::get_if<JsonNode::Entries>(&node_->value)) return entries->size();
  fail("an array or an object");
}

JsonView JsonView::at(std::size_t index) const {
  expect(JsonKind::array);
  const auto& items = std::get<JsonNode::Items>(node_->value);
  if (index >= items.size()) fail("an array of at least " + std::to_string(index + 1));
  return {*root_, items[index]};
}

std::optional<JsonView> JsonView::find(std::string_view key) const {
  expect(JsonKind::object);
  const auto& entries = std::get<JsonNode::Entries>(node_->value);
  const auto found = std::lower_bound(entries.begin(), entries.end(), key,
                                      [](const detail::JsonEntry& entry, std::string_view k) { return entry.key < k; });
  if (found == entries.end() || found->key != key) return std::nullopt;
  return JsonView{*root_, found->node};
}

JsonMembers JsonView::members() const {
  expect(JsonKind::object);
  return JsonMembers{*this};
}

JsonMember JsonMembers::at(std::size_t index) const {
  const auto& entry = std::get<JsonNode::Entries>(object_.node_->value).at(index);
  return {entry.key, JsonView{*object_.root_, entry.node}};
}

std::string JsonView::path() const {
  return detail::full_path(*node_, *root_);
}

void JsonView::expect(JsonKind kind) const {
  if (this->kind() != kind) fail(detail::describe(kind));
}

void JsonView::fail(std::string_view expected) const {
  throw JsonError(path() + ": expected " + std::string{expected} + ", found " +
                  detail::describe_value(*node_, kind(), expected));
}

void JsonView::fail_missing(std::string_view key) const {
  throw JsonError(path() + base::path_step(key) + ": missing");
}

}  // namespace easyretry
