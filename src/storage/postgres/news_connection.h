#pragma once
// One connection for news: nothing here waits, so that whoever uses it can wait for other things as well.

#include <memory>
#include <string>
#include <vector>

#include <libpq-fe.h>

namespace easyretry::storage::postgres {

// Of every database; the payload is the namespace. Documented: applications may notify it themselves.
inline constexpr const char* kNewsChannel = "easyretry";

class NewsConnection {
 public:
  explicit NewsConnection(const std::string& settings);  // as libpq takes them; begins to connect

  // Does what can be done without waiting. Lost is final.
  void go_on();
  bool lost() const { return stage_ == Stage::lost; }
  // Connected, and the last statement has been answered.
  bool idle() const { return stage_ == Stage::idle; }
  // Without result, and only while idle(), which it is not afterwards: even an answer that is there at once is read by
  // go_on(). One that is refused loses the connection.
  void send(const std::string& statement);
  std::string notification(const std::string& space) const;

  // The namespaces others have news of since the last call. What was said here itself is left out.
  std::vector<std::string> take_news();

  // What to wait for before go_on() has something to do.
  int socket() const { return PQsocket(handle_.get()); }
  short events() const { return events_; }

 private:
  enum class Stage { connecting, idle, busy, lost };
  void go_on_connecting();
  void go_on_talking();
  bool flush();

  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  std::unique_ptr<PGconn, Finish> handle_;
  Stage stage_ = Stage::connecting;
  short events_;
};

}  // namespace easyretry::storage::postgres
