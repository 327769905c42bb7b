#include "cuts/each_fault.h"

#include <fstream>
#include <iostream>
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "cuts/counting_store.h"
#include "support/eventually.h"
#include "support/tasks_by_key.h"

namespace easyretry::cuts {
namespace {

// The virtual functions of storage::Store, read from its header: a new one is missed by nobody.
std::set<std::string> verbs_of_a_store() {
  std::ifstream header{EASYRETRY_ROOT "/src/storage/store.h"};
  const std::regex verb{R"(^  virtual [^(]*\b(\w+)\()"};
  std::set<std::string> verbs;
  bool inside = false;
  for (std::string line; std::getline(header, line);) {
    inside = line == "class Store {" || (inside && line != "};");
    std::smatch match;
    if (inside && std::regex_search(line, match, verb)) verbs.insert(match[1]);
  }
  verbs.erase("Store");  // ~Store
  return verbs;
}

void expect_exact_counts(storage::Store& plain) {
  TaskQuery pay{.name_space = test::kNamespace, .handler = "pay"};
  const auto counted = test::must(plain.counts(test::kNamespace)).at("pay");
  EXPECT_EQ(counted.live(), test::must(plain.count(pay)));
  pay.finished = true;
  pay.requeued = true;
  EXPECT_EQ(counted.total.ended_in_all(), test::must(plain.count(pay)));
}

// The store lacks the verb.
bool is_refused(const Answer& answer) {
  return answer.error && answer.error->code == Errc::invalid_argument;
}

class EachFault {
 public:
  EachFault(FaultyPlace& place, Verbs& verbs) : place_(place), verbs_(verbs) {}

  int meet_each(const Verb& verb, const std::string& name);
  std::set<std::string> called() const { return store_.called(); }

 private:
  Answer call(const Verb& verb, std::size_t steps, bool& met_none);
  void expect_to_work_again(const Verb& verb);
  int made(const Verb& verb) { return verb.made ? verb.made(place_.plain()) : 0; }

  FaultyPlace& place_;
  Verbs& verbs_;
  CountingStore store_{[this]() -> storage::Store& { return place_.store(); }};
};

int EachFault::meet_each(const Verb& verb, const std::string& name) {
  for (int steps = 0;; ++steps) {
    verbs_.begin(verb.name + ":" + name + ":" + std::to_string(steps));
    SCOPED_TRACE(verbs_.key());
    bool met_none = false;
    const Answer answer = call(verb, static_cast<std::size_t>(steps), met_none);
    if (is_refused(answer)) {
      EXPECT_TRUE(is_refused(verb.call(store_))) << "a fault is not the caller's: " << to_string(*answer.error);
    } else {
      place_.at_the_answer(verb, answer);
      expect_true(verb, answer, made(verb));
      expect_to_work_again(verb);
    }
    if (met_none || ::testing::Test::HasFatalFailure()) return steps;
  }
}

Answer EachFault::call(const Verb& verb, std::size_t steps, bool& met_none) {
  if (verb.prepare) verb.prepare();
  place_.prepared();
  if (verb.hinder) verb.hinder();
  place_.fail_after(steps);
  Answer answer = verb.call(store_);
  met_none = place_.take_back();
  return answer;
}

// A server may still hold a row for a connection of which it has not noticed that it was cut.
void EachFault::expect_to_work_again(const Verb& verb) {
  const Answer again = verb.call(store_);
  EXPECT_FALSE(again.error) << to_string(*again.error);
  if (!verb.made) return;
  EXPECT_TRUE(test::eventually([&] { return made(verb) == 1 || (verb.call(store_), false); }));
  EXPECT_EQ(made(verb), 1);
}

}  // namespace

int meet_each_fault(FaultyPlace& place, Verbs& verbs, const std::vector<Verb>& all, const std::string& name) {
  EachFault each{place, verbs};
  int met = 0;
  for (const Verb& verb : all) {
    const int of_verb = each.meet_each(verb, name);
    std::cout << verb.name << ": " << of_verb << "\n";
    met += of_verb;
  }
  EXPECT_EQ(each.called(), verbs_of_a_store());
  expect_exact_counts(place.plain());
  return met;
}

}  // namespace easyretry::cuts
