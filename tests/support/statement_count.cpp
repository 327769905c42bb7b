#include "support/statement_count.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <regex>
#include <thread>

#include <hiredis.h>
#include <sys/socket.h>

#include "support/plain_sql.h"

namespace easyretry::test {
namespace {

// Several in one message are one line of the log.
class PostgresCount final : public StatementCount {
 public:
  explicit PostgresCount(DatabaseServer& server) : server_(server) {
    server.stop();
    std::ofstream{server.data() / "postgresql.conf", std::ios::app} << "log_statement = all\n";
    server.start();
  }
  int now() override {
    static const std::regex kStatements{R"(LOG:  (statement|execute \w+): (.*))"};
    std::ifstream log{server_.log()};
    int count = 0;
    std::smatch found;
    for (std::string line; std::getline(log, line);) {
      if (!std::regex_search(line, found, kStatements)) continue;
      const std::string text = found[2];
      count += 1 + static_cast<int>(std::count(text.begin(), text.end() - 1, ';'));
    }
    return count;
  }

 private:
  const DatabaseServer& server_;
};

class MariadbCount final : public StatementCount {
 public:
  explicit MariadbCount(const DatabaseServer& server) : sql_(connect_plainly(ServerKind::mariadb, server.port())) {}
  int now() override {
    const std::string all =
        sql_->run("SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'QUESTIONS'");
    return std::stoi(all) - ++own_;
  }

 private:
  const std::unique_ptr<PlainSql> sql_;
  int own_ = 0;
};

// Commands that scripts call do not count: no client has sent them.
class RedisCount final : public StatementCount {
 public:
  explicit RedisCount(const DatabaseServer& server) : context_(redisConnect("127.0.0.1", server.port()), redisFree) {
    freeReplyObject(redisCommand(context_.get(), "AUTH easyretry secret"));
    freeReplyObject(redisCommand(context_.get(), "MONITOR"));
    thread_ = std::thread{[this] { listen(); }};
  }
  ~RedisCount() override {
    shutdown(context_->fd, SHUT_RDWR);
    thread_.join();
  }
  RedisCount(const RedisCount&) = delete;
  RedisCount& operator=(const RedisCount&) = delete;
  int now() override { return count_; }

 private:
  void listen() {
    for (void* line = nullptr; redisGetReply(context_.get(), &line) == REDIS_OK; freeReplyObject(line)) {
      const std::string text{static_cast<redisReply*>(line)->str};
      if (text.find(" lua] ") == std::string::npos) ++count_;
    }
  }

  const std::unique_ptr<redisContext, decltype(&redisFree)> context_;
  std::atomic<int> count_{0};
  std::thread thread_;
};

}  // namespace

std::unique_ptr<StatementCount> count_statements(ServerKind kind, DatabaseServer& server) {
  if (kind == ServerKind::postgres) return std::make_unique<PostgresCount>(server);
  if (kind == ServerKind::mariadb) return std::make_unique<MariadbCount>(server);
  return std::make_unique<RedisCount>(server);
}

}  // namespace easyretry::test
