#include "support/plain_redis.h"

namespace easyretry::test {

PlainRedis::PlainRedis(int port, const std::string& database) : context_(redisConnect("127.0.0.1", port), redisFree) {
  run({"AUTH", "easyretry", "secret"});
  run({"SELECT", database});
}

std::string PlainRedis::run(const std::vector<std::string>& command) {
  std::vector<const char*> words;
  std::vector<std::size_t> sizes;
  for (const std::string& word : command) {
    words.push_back(word.data());
    sizes.push_back(word.size());
  }
  const std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply{
      static_cast<redisReply*>(
          redisCommandArgv(context_.get(), static_cast<int>(words.size()), words.data(), sizes.data())),
      freeReplyObject};
  if (!reply) throw SqlError(context_->errstr);
  if (reply->type == REDIS_REPLY_ERROR) throw SqlError(reply->str);
  const redisReply* first = reply.get();
  while (first->type == REDIS_REPLY_ARRAY && first->elements > 0) first = first->element[0];
  if (first->type == REDIS_REPLY_INTEGER) return std::to_string(first->integer);
  return first->str != nullptr ? std::string{first->str, first->len} : std::string{};
}

}  // namespace easyretry::test
