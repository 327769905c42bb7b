#include "fault/crew.h"

#include <stdexcept>

#include <sys/wait.h>

namespace easyretry::fault {

std::vector<std::string> Crew::command(int life, int tasks, const Place& place) const {
  std::vector<std::string> words = place.through;
  words.emplace_back("/usr/bin/env");
  Variables variables = place.variables;
  variables.insert(variables_.begin(), variables_.end());
  for (const auto& [name, value] : variables) words.push_back(name + "=" + value);
  words.insert(words.end(), {KILL_WORKER, place.url.empty() ? url_ : place.url, folder_.path().string(),
                             std::to_string(life), std::to_string(tasks)});
  return words;
}

int Crew::start_caller() {
  const int life = lives_++;
  journals_.emplace_back(journal_of(life), life);
  return life;
}

int Crew::start(int tasks, const Place& place) {
  const int life = start_caller();
  const auto words = command(life, tasks, place);
  members_.emplace(life, std::make_unique<Child>(words.front(), std::vector(words.begin() + 1, words.end())));
  return life;
}

int Crew::start_elsewhere() {
  constexpr int kNoTasksButStay = 1;
  return start(kNoTasksButStay, {.variables = {{"MACHINE_NAME", "machine-" + std::to_string(lives_)}}});
}

void Crew::start_some(int processes, int tasks) {
  for (int i = 0; i < processes; ++i) start(tasks);
}

void Crew::kill(int life) {
  const auto member = members_.find(life);
  deaths_.emplace(life, wall_micros());
  const int status = member->second->kill();
  members_.erase(member);
  if (!WIFSIGNALED(status)) throw std::runtime_error("life " + std::to_string(life) + " had ended by itself");
}

void Crew::kill_oldest(int processes) {
  for (int i = 0; i < processes; ++i) kill(alive().front());
}

void Crew::stop(int life) {
  stopped_.insert(life);
  ::kill(member(life).pid(), SIGSTOP);
}

void Crew::go_on(int life) {
  ::kill(member(life).pid(), SIGCONT);
}

void Crew::kill_all() {
  for (const int life : alive()) kill(life);
}

bool Crew::wait(int life) {
  const int status = members_.at(life)->wait();
  members_.erase(life);
  if (WIFSIGNALED(status)) deaths_.emplace(life, wall_micros());
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool Crew::finish() {
  kill_all();
  return wait(start(0));
}

std::vector<int> Crew::alive() const {
  std::vector<int> lives;
  for (const auto& [life, member] : members_) lives.push_back(life);
  return lives;
}

std::vector<JournalEvent> Crew::events() {
  std::vector<JournalEvent> all;
  for (JournalReader& journal : journals_) {
    const auto& some = journal.events();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::size_t Crew::events_written() {
  std::size_t total = 0;
  for (JournalReader& journal : journals_) total += journal.events().size();
  return total;
}

std::size_t Crew::submitted() {
  std::size_t total = 0;
  for (JournalReader& journal : journals_) total += journal.submitted();
  return total;
}

}  // namespace easyretry::fault
