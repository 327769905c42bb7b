#include "conformance/model_commands.h"

#include <array>

namespace easyretry::test {
namespace {

using Verb = Command::Verb;

constexpr std::array kNames{"tick", "insert", "load",   "claim", "settle",  "renew",
                            "find", "list",   "revise", "end",   "requeue", "keep"};

// Mostly claims and settlements, where races happen. Few cancels, or no task would live long.
rc::Gen<Verb> any_verb() {
  return rc::gen::weightedElement<Verb>({{4, Verb::tick},
                                         {5, Verb::insert},
                                         {3, Verb::load},
                                         {9, Verb::claim},
                                         {9, Verb::settle},
                                         {3, Verb::renew},
                                         {1, Verb::find},
                                         {2, Verb::list},
                                         {2, Verb::revise},
                                         {2, Verb::end},
                                         {2, Verb::requeue},
                                         {1, Verb::keep}});
}

// Any of 256 whatever the size of the test case; rapidcheck would keep numbers small in small ones.
rc::Gen<std::uint8_t> any_byte() {
  return rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint8_t>());
}

rc::Gen<Pick> any_pick() {
  return rc::gen::build<Pick>(rc::gen::set(&Pick::task, any_byte()), rc::gen::set(&Pick::how, any_byte()));
}

rc::Gen<Command> any_command() {
  return rc::gen::build<Command>(
      rc::gen::set(&Command::verb, any_verb()), rc::gen::set(&Command::how, any_byte()),
      rc::gen::set(&Command::picks, rc::gen::resize(6, rc::gen::container<std::vector<Pick>>(any_pick()))));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Pick& pick) {
  return out << int{pick.task} << '/' << int{pick.how};
}

std::ostream& operator<<(std::ostream& out, const Command& command) {
  out << kNames.at(static_cast<std::size_t>(command.verb)) << '(' << int{command.how} << ';';
  for (const Pick& pick : command.picks) out << ' ' << pick;
  return out << ')';
}

std::ostream& operator<<(std::ostream& out, const StoreSettings& settings) {
  return out << settings.total_shards << " shards, history " << to_string(settings.history);
}

rc::Gen<std::vector<Command>> any_commands() {
  return rc::gen::scale(2.0, rc::gen::container<std::vector<Command>>(any_command()));
}

rc::Gen<StoreSettings> any_settings() {
  using storage::History;
  return rc::gen::build<StoreSettings>(
      rc::gen::set(&StoreSettings::history,
                   rc::gen::weightedElement<History>({{4, History::all}, {1, History::failures}, {1, History::none}})),
      rc::gen::set(&StoreSettings::total_shards, rc::gen::element(1, 3, 64)));
}

}  // namespace easyretry::test
