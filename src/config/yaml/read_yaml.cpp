#include <algorithm>
#include <sstream>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "base/utf8.h"
#include "config/node.h"

namespace easyretry::config {
namespace {

Place place_at(std::string_view text, std::size_t offset, std::string_view source) {
  const std::string_view before = text.substr(0, offset);
  const auto line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return {source, static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
          static_cast<int>(offset - line_begin) + 1};
}

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr const char* kSecondDocument = "a second document";
constexpr const char* kOpenQuotes = "open quotes";

// Builds nodes from the events of the parser. Not from the parser's own nodes: those follow aliases, keep only one of
// two equal keys, and do not know where a key was written.
class NodeBuilder final : public YAML::EventHandler {
 public:
  NodeBuilder(std::string_view text, std::string_view source) : text_(text), source_(source) {}

  Node take_root() { return std::move(root_); }

  // The outermost bracket that is still open; null if there is none.
  const Node* open_bracket() const { return open_bracket_depth_ == 0 ? nullptr : &open_[open_bracket_depth_ - 1]; }

  Place place(const YAML::Mark& mark) const { return {source_, mark.line + 1, mark.column + 1}; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw YAML::ParserException(mark, kSecondDocument);
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { put({Node::Kind::nothing, place(mark)}); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { put({Node::Kind::alias, place(mark)}); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string& value) override {
    if (never_closes_quotes(mark.pos)) throw YAML::ParserException(mark, kOpenQuotes);
    put({Node::Kind::word, place(mark), value});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value style) override {
    open({Node::Kind::list, place(mark)}, style);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value style) override {
    open({Node::Kind::map, place(mark)}, style);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  void open(Node node, YAML::EmitterStyle::value style) {
    open_.push_back(std::move(node));
    if (style == YAML::EmitterStyle::Flow && open_bracket_depth_ == 0) open_bracket_depth_ = open_.size();
  }

  void close() {
    if (open_.size() == open_bracket_depth_) open_bracket_depth_ = 0;
    Node node = std::move(open_.back());
    open_.pop_back();
    put(std::move(node));
  }

  // The parser accepts quotes that are not closed before the end, as in a file that is still being written.
  bool never_closes_quotes(int position) const {
    const std::string_view rest = text_.substr(std::min(static_cast<std::size_t>(position), text_.size()));
    if (!rest.starts_with('"') && !rest.starts_with('\'')) return false;
    for (std::size_t i = 1; i < rest.size(); ++i) {
      if (rest[i] == rest[0]) return false;  // '' inside '…' closes and opens again
      if (rest[i] == '\\' && rest[0] == '"') ++i;
    }
    return true;
  }

  void put(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Node& parent = open_.back();
    const bool is_key = parent.kind == Node::Kind::map && parent.keys.size() == parent.items.size();
    (is_key ? parent.keys : parent.items).push_back(std::move(node));
  }

  std::string_view text_;
  std::string_view source_;
  int documents_ = 0;
  Node root_;
  std::vector<Node> open_;              // the outermost first
  std::size_t open_bracket_depth_ = 0;  // of the outermost [ or {; 0 if none is open
};

// The parser's messages in terms of what to correct.
std::string remedy(std::string_view message) {
  if (message == "illegal map value") {
    return "a colon where no key is allowed; check the indentation, and put a value that contains \": \" in quotes";
  }
  if (message == "end of map not found" || message == "end of sequence not found") {
    return "this line does not fit the lines above it; indent it like the lines it belongs to";
  }
  if (message == "end of map flow not found" || message == "end of sequence flow not found") {
    return "the bracket opened here is not closed, or its content is wrong; write [a, b] or {a: 1}";
  }
  if (message == kOpenQuotes || message == "illegal EOF in scalar") return "the text ends inside quotes; close them";
  if (message == "unknown token") return "a value cannot begin with this character; put it in quotes";
  if (message == "the referenced anchor is not defined") return "aliases are not supported; write the value out";
  if (message == kSecondDocument) return "a second document begins here; a configuration is a single document";
  if (message == "bad file") return "nested too deeply; a configuration has three levels";
  return std::string{message} + "; check the indentation, colons and quotes here";
}

void add_syntax_error(const YAML::Exception& error, const NodeBuilder& builder, Problems& problems) {
  const bool about_bracket = error.msg.find("flow not found") != std::string::npos;
  const Node* bracket = about_bracket ? builder.open_bracket() : nullptr;
  problems.add(bracket != nullptr ? bracket->place : builder.place(error.mark), "not YAML: " + remedy(error.msg));
}

// Control characters would end up in messages and logs, and the parser takes one of them (EOT) for the end of the text.
bool is_control(char c) {
  return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') || c == 0x7F;
}

// Empty lines and comments may contain tabs.
std::size_t first_tab_in_indentation(std::string_view text) {
  for (std::size_t begin = 0; begin < text.size();) {
    const auto first = std::min(text.find_first_not_of(" \t", begin), text.size());
    const auto tab = text.substr(begin, first - begin).find('\t');
    const bool is_blank = first == text.size() || std::string_view{"\r\n#"}.find(text[first]) != std::string_view::npos;
    if (tab != std::string_view::npos && !is_blank) return begin + tab;
    begin = std::min(text.find('\n', first), text.size() - 1) + 1;
  }
  return std::string_view::npos;
}

bool is_readable(std::string_view text, std::string_view source, Problems& problems) {
  if (text.size() > kLargestFile) {
    problems.add({source}, "larger than 1 MiB; a configuration is a page or two, so this is probably the wrong file");
    return false;
  }
  if (const auto wrong = base::invalid_utf8(text); wrong != std::string_view::npos) {
    problems.add(place_at(text, wrong, source), "not UTF-8; save the file as UTF-8");
    return false;
  }
  if (const auto* const control = std::find_if(text.begin(), text.end(), is_control); control != text.end()) {
    problems.add(place_at(text, static_cast<std::size_t>(control - text.begin()), source),
                 "a control character; delete it");
    return false;
  }
  if (const auto tab = first_tab_in_indentation(text); tab != std::string_view::npos) {
    problems.add(place_at(text, tab, source), "indented with a tab; YAML allows only spaces, write two");
    return false;
  }
  return true;
}

Node read_yaml(std::string_view text, std::string_view source, Problems& problems) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (!is_readable(text, source, problems)) return {};
  NodeBuilder builder{text, source};
  try {
    std::istringstream stream{std::string{text}};
    YAML::Parser parser{stream};
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.take_root();
  } catch (const YAML::Exception& error) {
    add_syntax_error(error, builder, problems);
    return {};
  }
}

}  // namespace

const YamlPart* easyretry_yaml() {
  static constexpr YamlPart kPart{read_yaml};
  return &kPart;
}

}  // namespace easyretry::config
