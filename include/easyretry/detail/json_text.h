#pragma once
// Canonical JSON: each value has exactly one text, so that equal arguments give equal task keys on every machine.
//
// The writer emits no white space, sorts keys by their bytes, keeps integers exact, and writes other numbers with the
// fewest digits that read back as the same value. The reader is strict: valid UTF-8, no duplicate keys, no NaN. Both
// allow 64 levels of nesting, so any written text can be read.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace easyretry {

inline constexpr std::size_t kJsonDepth = 64;

// The message has the path, "$[0].amount: expected an integer, found a string", or the line and column of invalid JSON.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Builds one JSON value, call by call. Throws JsonError if the calls do not form a value, and for NaN, infinity and
// text that is not UTF-8, which JSON cannot represent. Do not use the writer after it has thrown.
class JsonWriter {
 public:
  void null();
  void boolean(bool value);
  void integer(std::int64_t value);
  void unsigned_integer(std::uint64_t value);
  void number(double value);  // -0.0 is written as 0
  void number(float value);   // 0.1f is written as 0.1 and reads back as 0.1f
  void string(std::string_view value);

  void begin_array();
  void end_array();
  void begin_object();
  void key(std::string_view name);  // in any order; end_object sorts them
  void end_object();

  // Returns the finished text and resets the writer.
  std::string take();

 private:
  struct Member {
    std::string key;
    std::size_t begin;  // position of the quoted key in text_
  };
  struct Level {
    bool is_object;
    std::size_t first_member;  // in members_
    std::size_t count = 0;     // elements or members begun
    bool sorted = true;
    bool has_key = false;  // a key was written; its value is next
  };

  void before_value();
  void begin(bool object, char bracket);
  void reserve();
  void end(bool object, char bracket);
  void sort_members(const Level& level);
  void append_quoted(std::string_view value);
  void append_escaped(std::string_view value);
  template <class T>
  void append_number(T value);
  template <class T>
  void append_finite(T value);
  std::string path() const;

  std::string text_;
  std::vector<Level> levels_;
  std::vector<Member> members_;  // of all open objects, the innermost last
};

enum class JsonKind { null, boolean, integer, number, string, array, object };

namespace detail {
struct JsonNode;
}

class JsonMembers;

// A value inside a JsonDocument: two pointers, valid while the document lives. Reading a missing value or the wrong
// type throws a JsonError with the path.
class JsonView {
 public:
  JsonKind kind() const;
  bool is_null() const { return kind() == JsonKind::null; }

  bool as_bool() const;
  std::int64_t as_int() const;
  std::uint64_t as_uint() const;
  double as_double() const;  // also for an integer: 2.0 is written as 2
  std::string_view as_string() const;

  std::size_t size() const;                                  // of an array or object
  JsonView at(std::size_t index) const;                      // of an array
  std::optional<JsonView> find(std::string_view key) const;  // of an object
  JsonMembers members() const;                               // for (const auto [key, value] : view.members())

  std::string path() const;  // "$[0].amount"; found by searching, so use it only in messages
  void expect(JsonKind kind) const;
  [[noreturn]] void fail(std::string_view expected) const;
  [[noreturn]] void fail_missing(std::string_view key) const;

 private:
  friend class JsonDocument;
  friend class JsonMembers;
  JsonView(const detail::JsonNode& root, const detail::JsonNode& node) : root_(&root), node_(&node) {}

  const detail::JsonNode* root_;
  const detail::JsonNode* node_;
};

struct JsonMember {
  std::string_view key;
  JsonView value;
};

// An object's members, sorted by key.
class JsonMembers {
 public:
  class Iterator {
   public:
    Iterator(const JsonMembers& members, std::size_t index) : members_(&members), index_(index) {}
    JsonMember operator*() const { return members_->at(index_); }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    const JsonMembers* members_;
    std::size_t index_;
  };

  explicit JsonMembers(JsonView object) : object_(object) {}
  std::size_t size() const { return object_.size(); }
  JsonMember at(std::size_t index) const;
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  JsonView object_;
};

// A parsed text. Its views stay valid when it is moved.
class JsonDocument {
 public:
  static JsonDocument parse(std::string_view text);
  ~JsonDocument();
  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;

  JsonView root() const { return {*root_, *root_}; }

 private:
  explicit JsonDocument(std::unique_ptr<const detail::JsonNode> root);
  std::unique_ptr<const detail::JsonNode> root_;
};

}  // namespace easyretry
#pragma GCC visibility pop
