#include "seal/sealed_text.h"

#include <algorithm>

#include "seal/base64.h"
#include "seal/crypto.h"

namespace easyretry::seal {
namespace {

constexpr std::string_view kLabel = "easyretry.sealed.1";
constexpr std::size_t kNumber = 8;
constexpr std::size_t kNumbers = 5 * kNumber;

void add(std::string& out, std::uint64_t number) {
  for (std::size_t i = 0; i < kNumber; ++i) out.push_back(static_cast<char>(number >> (8 * i) & 0xFF));
}

void add(std::string& out, std::string_view text) {
  add(out, text.size());
  out.append(text);
}

bool allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

constexpr std::string_view kMarker = R"({"$sealed":)";
constexpr std::string_view kBeforeKey = R"({"$sealed":1,"key":")";
constexpr std::string_view kBeforeData = R"(","data":")";
constexpr std::string_view kEnd = R"("})";
constexpr std::size_t kMaxText =
    kBeforeKey.size() + kMaxKeyId + kBeforeData.size() + base64_size(kNonceBytes + kMaxPlain + kTagBytes) + kEnd.size();

std::size_t differences(std::string_view stored) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < kMarker.size(); ++i) count += stored[i] != kMarker[i] ? 1 : 0;
  return count;
}

tl::unexpected<std::string_view> unreadable(std::string_view why) {
  return tl::make_unexpected(why);
}

bool take(std::string_view& rest, std::string_view expected) {
  if (!rest.starts_with(expected)) return false;
  rest.remove_prefix(expected.size());
  return true;
}

}  // namespace

std::string_view to_string(Content content) {
  return content == Content::arguments ? "arguments" : "result";
}

std::string encode(const Binding& binding) {
  std::string out;
  out.reserve(kLabel.size() + kNumbers + binding.name_space.size() + binding.handler.size() + binding.key.size());
  out.append(kLabel);
  add(out, static_cast<std::uint64_t>(binding.content));
  add(out, static_cast<std::uint64_t>(static_cast<std::int64_t>(binding.payload_version)));
  add(out, binding.name_space);
  add(out, binding.handler);
  add(out, binding.key);
  return out;
}

bool is_key_id(std::string_view id) {
  return !id.empty() && id.size() <= kMaxKeyId && std::all_of(id.begin(), id.end(), &allowed);
}

std::string quoted_key_id(std::string_view id) {
  std::string text{id.substr(0, kMaxKeyId)};
  std::replace_if(
      text.begin(), text.end(), [](char c) { return !allowed(c); }, '?');
  return '"' + text + (id.size() > kMaxKeyId ? "…\"" : "\"");
}

// A single wrong byte in the marker is damage: a plain payload that similar is not JSON, or not an array.
Form form_of(std::string_view stored, Content content) {
  const std::size_t wrong = stored.size() < kMarker.size() ? kMarker.size() : differences(stored);
  if (wrong == 0) return Form::sealed;
  if (wrong == 1) return Form::damaged;
  if (content == Content::arguments && !stored.starts_with('[')) return Form::damaged;
  return Form::plain;
}

std::string write_sealed(std::string_view key_id, std::string_view data) {
  const std::size_t before = kBeforeKey.size() + key_id.size() + kBeforeData.size();
  std::string text;
  text.reserve(before + base64_size(data.size()) + kEnd.size());
  text.append(kBeforeKey).append(key_id).append(kBeforeData);
  text.resize(before + base64_size(data.size()));
  base64_encode(data, text.data() + before);
  text.append(kEnd);
  return text;
}

tl::expected<SealedText, std::string_view> read_sealed(std::string_view stored) {
  if (stored.size() > kMaxText) return unreadable("larger than anything that is ever written");
  std::string_view rest = stored;
  if (!rest.ends_with(kEnd)) return unreadable("cut off, or damaged at its end");
  rest.remove_suffix(kEnd.size());
  if (!take(rest, kBeforeKey)) return unreadable("damaged, or written by a newer version");
  const std::string_view key_id = rest.substr(0, rest.find('"'));
  rest.remove_prefix(key_id.size());
  if (!is_key_id(key_id) || !take(rest, kBeforeData)) return unreadable("damaged in the id of its key");
  auto data = base64_decode(rest);
  if (!data) return unreadable("damaged: its data is not base64");
  if (data->size() < kNonceBytes + kTagBytes) return unreadable("cut short: its data is less than 28 bytes");
  return SealedText{key_id, std::move(*data)};
}

}  // namespace easyretry::seal
