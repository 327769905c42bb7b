#include "fault/crew.h"

#include <sys/wait.h>

namespace easyretry::fault {

int Crew::start(int tasks, const std::string& url) {
  const int life = lives_++;
  const std::vector<std::string> arguments{url, folder_.path().string(), std::to_string(life), std::to_string(tasks),
                                           membership_};
  members_.emplace(life, std::make_unique<Child>(KILL_WORKER, arguments));
  journals_.emplace_back(journal_path(folder_.path(), life));
  return life;
}

void Crew::kill(int life) {
  const auto member = members_.find(life);
  deaths_.emplace(life, wall_micros());
  const int status = member->second->kill();
  members_.erase(member);
  if (!WIFSIGNALED(status)) throw std::runtime_error("life " + std::to_string(life) + " had ended by itself");
}

void Crew::kill_all() {
  for (const int life : alive()) kill(life);
}

bool Crew::finish() {
  const int last = start(0);
  const int status = members_.at(last)->wait();
  members_.erase(last);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::vector<int> Crew::alive() const {
  std::vector<int> lives;
  for (const auto& [life, member] : members_) lives.push_back(life);
  return lives;
}

std::size_t Crew::events_written() {
  std::size_t total = 0;
  for (JournalCounter& journal : journals_) total += journal.events();
  return total;
}

std::size_t Crew::submitted() {
  std::size_t total = 0;
  for (JournalCounter& journal : journals_) total += journal.submitted();
  return total;
}

}  // namespace easyretry::fault
