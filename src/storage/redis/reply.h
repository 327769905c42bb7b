#pragma once
// What the server answered. A reply of a kind that was not expected reads as 0, "" or nothing.

#include <cstdint>
#include <memory>
#include <string_view>

#include <hiredis.h>

namespace easyretry::storage::redis {

// A reply, or a part of one; for as long as the whole lives.
class ReplyView {
 public:
  explicit ReplyView(const redisReply* reply) : reply_(reply) {}

  bool is_error() const { return reply_->type == REDIS_REPLY_ERROR; }
  std::string_view text() const {
    return reply_->str != nullptr ? std::string_view{reply_->str, reply_->len} : std::string_view{};
  }
  std::int64_t integer() const { return reply_->type == REDIS_REPLY_INTEGER ? reply_->integer : 0; }

  std::size_t size() const { return reply_->type == REDIS_REPLY_ARRAY ? reply_->elements : 0; }
  bool has(std::size_t i) const { return i < size() && reply_->element[i]->type != REDIS_REPLY_NIL; }
  // Must be there.
  ReplyView part(std::size_t i) const { return ReplyView{reply_->element[i]}; }
  std::string_view text(std::size_t i) const { return has(i) ? part(i).text() : std::string_view{}; }
  std::int64_t integer(std::size_t i) const { return has(i) ? part(i).integer() : 0; }

 private:
  const redisReply* reply_;
};

class Reply : public ReplyView {
 public:
  explicit Reply(redisReply* reply) : ReplyView(reply), whole_(reply, freeReplyObject) {}

 private:
  std::unique_ptr<redisReply, decltype(&freeReplyObject)> whole_;
};

}  // namespace easyretry::storage::redis
