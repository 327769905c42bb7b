#pragma once
// Tells listeners of circuits that have opened or closed, and exchanges reports with the other instances of a store.
//
// An instance sends a report on its circuits with a heartbeat, as a member of a separate namespace: `circuits`, a
// separator, and the engine's namespace. So one statement per second sends its report and reads those of the
// others, and the store forgets instances that die. An instance whose circuits have recorded nothing for a while
// neither sends nor asks; its next task waits for one answer, as with pauses.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <easyretry/cluster.h>

#include "engine/circuit.h"
#include "engine/handlers.h"
#include "engine/store_time.h"
#include "engine/wakeup.h"

namespace easyretry::engine {

struct Context;

// As text, so that each fits into the text of a member; times are the store's.
using NamedReports = std::map<std::string, CircuitReport>;
std::vector<std::string> report_texts(const NamedReports& reports, const StoreTime& time, std::size_t most);
// Reports that cannot be read, such as those of a later release, are left out.
NamedReports parse_reports(std::string_view text, const StoreTime& time);

class CircuitWatch {
 public:
  // `opened` is called after a circuit has opened.
  CircuitWatch(Context& context, std::function<void()> opened) : context_(context), opened_(std::move(opened)) {}

  Step step();

 private:
  void exchange(const HandlerTable& table, Instant now, bool wanted);
  std::string node(std::size_t number) const;
  void hear(const HandlerTable& table, const std::vector<Member>& members, Instant now);
  void tell_changes(const HandlerTable& table);

  Context& context_;
  const std::function<void()> opened_;
  Instant next_ = Instant::min();  // used only by the watching thread
};

}  // namespace easyretry::engine
