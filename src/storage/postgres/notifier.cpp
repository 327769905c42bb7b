#include "storage/postgres/notifier.h"

#include <algorithm>
#include <set>
#include <utility>

#include <poll.h>

#include "storage/postgres/statements.h"

namespace easyretry::storage::postgres {

using server::Notifier;

NotifyConnection::NotifyConnection(const std::string& settings)
    : handle_(PQconnectStart(settings.c_str())), events_(POLLOUT) {
  if (PQstatus(handle_.get()) == CONNECTION_BAD) stage_ = Stage::lost;
}

void NotifyConnection::advance() {
  if (stage_ == Stage::connecting) {
    advance_connecting();
  } else if (stage_ != Stage::lost) {
    advance_talking();
  }
}

void NotifyConnection::advance_connecting() {
  switch (PQconnectPoll(handle_.get())) {
    case PGRES_POLLING_WRITING: events_ = POLLOUT; break;
    case PGRES_POLLING_OK:
      PQsetnonblocking(handle_.get(), 1);
      stage_ = Stage::idle;
      [[fallthrough]];
    case PGRES_POLLING_READING: events_ = POLLIN; break;
    default: stage_ = Stage::lost;
  }
}

void NotifyConnection::advance_talking() {
  if (PQconsumeInput(handle_.get()) == 0) return void(stage_ = Stage::lost);
  bool refused = !flush();
  while (stage_ == Stage::busy && PQisBusy(handle_.get()) == 0) {
    PGresult* result = PQgetResult(handle_.get());
    if (result == nullptr) stage_ = Stage::idle;
    refused |= result != nullptr && PQresultStatus(result) == PGRES_FATAL_ERROR;
    PQclear(result);
  }
  if (refused || PQstatus(handle_.get()) == CONNECTION_BAD) stage_ = Stage::lost;
}

bool NotifyConnection::flush() {
  const int unsent = PQflush(handle_.get());
  events_ = unsent == 1 ? POLLIN | POLLOUT : POLLIN;
  return unsent >= 0;
}

void NotifyConnection::send(const std::string& statement) {
  const bool sent = PQsendQuery(handle_.get(), statement.c_str()) == 1 && flush();
  stage_ = sent ? Stage::busy : Stage::lost;
}

std::string NotifyConnection::literal(const std::string& text) const {
  char* const escaped = PQescapeLiteral(handle_.get(), text.data(), text.size());
  const std::string literal = escaped == nullptr ? "''" : escaped;
  PQfreemem(escaped);
  return literal;
}

std::vector<std::string> NotifyConnection::take_notifications() {
  std::vector<std::string> namespaces;
  while (PGnotify* const notification = PQnotifies(handle_.get())) {
    if (notification->be_pid != PQbackendPID(handle_.get())) namespaces.emplace_back(notification->extra);
    PQfreemem(notification);
  }
  return namespaces;
}

namespace {

// One connection of the notifier, with one statement at a time.
class NotifyLink {
 public:
  NotifyLink(Notifier& notifier, const std::string& settings) : notifier_(notifier), connection_(settings) {}
  ~NotifyLink() { notifier_.requeue_unconfirmed(); }
  NotifyLink(const NotifyLink&) = delete;
  NotifyLink& operator=(const NotifyLink&) = delete;

  // Until the connection is lost or the notifier has finished. Returns whether the connection ever worked.
  bool run() {
    while (true) {
      connection_.advance();
      for (const std::string& name_space : connection_.take_notifications()) notifier_.wake(name_space);
      if (connection_.idle()) send_next();
      const bool silent = !connection_.idle() && Notifier::Steady::now() >= next_;
      if (connection_.lost() || silent || notifier_.finished()) return worked_;
      notifier_.wait(connection_.socket(), connection_.events(), next_);
    }
  }

 private:
  void send_next() {
    worked_ = true;
    handle_answer();
    const auto now = Notifier::Steady::now();
    if (!listens_ && notifier_.has_listeners()) {
      asked_to_listen_ = true;
      return send(statements::listen.str());
    }
    if (listens_) notifier_.wake_newcomers();
    if (now >= next_notify_) {
      const std::set<std::string> namespaces = notifier_.take_pending();
      if (!namespaces.empty()) return notify(namespaces, now);
    }
    if (listens_ && now - sent_at_ >= Notifier::kQuiet) return send("SELECT 1");
    next_ = listens_ ? sent_at_ + Notifier::kQuiet : Notifier::Steady::time_point::max();
    if (notifier_.has_pending()) next_ = std::min(next_, next_notify_);
  }

  void notify(const std::set<std::string>& namespaces, Notifier::Steady::time_point now) {
    next_notify_ = now + Notifier::kInterval;
    std::string script = statements::async_commit.str() + ";";  // for this script, which is one transaction
    for (const std::string& name_space : namespaces) {
      script += statements::notify.with({{"namespace", connection_.literal(name_space)}}) + ";";
    }
    send(script);
  }

  void send(const std::string& statement) {
    sent_at_ = Notifier::Steady::now();
    next_ = sent_at_ + Notifier::kPatience;
    connection_.send(statement);
  }

  void handle_answer() {
    notifier_.confirm_sent();
    if (!std::exchange(asked_to_listen_, false)) return;
    listens_ = true;
    notifier_.wake_all();
  }

  Notifier& notifier_;
  NotifyConnection connection_;
  bool worked_ = false;
  bool asked_to_listen_ = false;
  bool listens_ = false;
  Notifier::Steady::time_point sent_at_{};
  Notifier::Steady::time_point next_notify_{};
  // When to look again. While a statement is in flight: when the connection counts as silent.
  Notifier::Steady::time_point next_ = Notifier::Steady::now() + Notifier::kPatience;
};

}  // namespace

std::shared_ptr<Notifier> make_notifier(std::function<std::string()> settings,
                                        std::shared_ptr<const std::atomic<bool>> behind_pooler) {
  return std::make_shared<Notifier>(
      [settings = std::move(settings)](Notifier& notifier) {
        return NotifyLink{notifier, settings()}.run();
      },
      [behind_pooler = std::move(behind_pooler)] { return !*behind_pooler; });
}

}  // namespace easyretry::storage::postgres
