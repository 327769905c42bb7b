#pragma once
// Announcements with NOTIFY and LISTEN.
//
// A commit that notifies holds a lock of the whole server until it is on disk, and all other commits that notify wait
// for it. So none of our inserts notifies. Announcements are sent afterwards, by a transaction that does not wait for
// the disk, and at most once in Notifier::kInterval.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <libpq-fe.h>

#include "storage/server/notifier.h"

namespace easyretry::storage::postgres {

// A connection on which nothing waits, so that its user can wait for other things as well.
class NotifyConnection {
 public:
  explicit NotifyConnection(const std::string& settings);  // as libpq takes them; begins to connect

  // Does what can be done without waiting.
  void advance();
  bool lost() const { return stage_ == Stage::lost; }  // for good
  // Connected, and the last statement has been answered.
  bool idle() const { return stage_ == Stage::idle; }
  // Only while idle(). It is not idle afterwards: even an answer that is there at once is read by advance(). The
  // statement returns nothing. If the server refuses it, the connection is lost.
  void send(const std::string& statement);
  std::string literal(const std::string& text) const;

  // The namespaces of notifications that arrived since the last call, without those that were sent on this connection.
  std::vector<std::string> take_notifications();

  // Wait for these events of the socket before the next advance().
  int socket() const { return PQsocket(handle_.get()); }
  short events() const { return events_; }

 private:
  enum class Stage { connecting, idle, busy, lost };
  void advance_connecting();
  void advance_talking();
  bool flush();

  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  std::unique_ptr<PGconn, Finish> handle_;
  Stage stage_ = Stage::connecting;
  short events_;
};

// `settings` as libpq takes them, asked for each connection; it may throw ServerError. `behind_pooler` is set by the
// sessions of the store, which are there before anything listens: there, the server would notify a session that is not
// ours by then.
std::shared_ptr<server::Notifier> make_notifier(std::function<std::string()> settings,
                                                std::shared_ptr<const std::atomic<bool>> behind_pooler);

}  // namespace easyretry::storage::postgres
