#pragma once
// What the server answered. A reply of a kind that was not expected reads as 0, "" or nothing.

#include <cstdint>
#include <memory>
#include <string_view>

#include <hiredis.h>

namespace easyretry::storage::redis {

class Reply {
 public:
  explicit Reply(redisReply* reply) : reply_(reply, freeReplyObject) {}

  bool is_error() const { return reply_->type == REDIS_REPLY_ERROR; }
  std::string_view text() const { return text_of(reply_.get()); }
  std::int64_t integer() const { return reply_->type == REDIS_REPLY_INTEGER ? reply_->integer : 0; }

  std::size_t size() const { return reply_->type == REDIS_REPLY_ARRAY ? reply_->elements : 0; }
  bool has(std::size_t i) const { return i < size() && reply_->element[i]->type != REDIS_REPLY_NIL; }
  std::string_view text(std::size_t i) const { return has(i) ? text_of(reply_->element[i]) : std::string_view{}; }
  std::int64_t integer(std::size_t i) const {
    return has(i) && reply_->element[i]->type == REDIS_REPLY_INTEGER ? reply_->element[i]->integer : 0;
  }

 private:
  static std::string_view text_of(const redisReply* reply) {
    return reply->str != nullptr ? std::string_view{reply->str, reply->len} : std::string_view{};
  }

  std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply_;
};

}  // namespace easyretry::storage::redis
