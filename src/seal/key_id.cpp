#include "seal/key_id.h"

#include <algorithm>

namespace easyretry::seal {
namespace {

bool allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

}  // namespace

bool is_key_id(std::string_view id) {
  return !id.empty() && id.size() <= kMaxKeyId && std::all_of(id.begin(), id.end(), &allowed);
}

std::string quoted_key_id(std::string_view id) {
  std::string text{id.substr(0, kMaxKeyId)};
  std::replace_if(
      text.begin(), text.end(), [](char c) { return !allowed(c); }, '?');
  return '"' + text + (id.size() > kMaxKeyId ? "…\"" : "\"");
}

}  // namespace easyretry::seal
