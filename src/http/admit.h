#pragma once
// Whether a request is let in, by its head alone. Nothing of a body is read for whoever is refused.

#include <cstddef>
#include <limits>
#include <string>
#include <variant>

#include "http/message.h"
#include "http/problem.h"

namespace easyretry::http {

struct Admitted {
  Serve serve;  // called once with the head that was judged, and its body
  // Of the body; ServerOptions::most_body_bytes counts, too.
  std::size_t most_body_bytes = std::numeric_limits<std::size_t>::max();
  bool known = true;     // the client has shown who it is, or need not
  std::string client{};  // whose bodies are counted together: see BodyRoom
};

using Admission = std::variant<Admitted, Problem>;

// Called on the server's own thread: must not wait for anything, nor throw. `head` has no body yet; what is changed in
// it is what `serve` gets.
using Admit = std::function<Admission(Request& head)>;

}  // namespace easyretry::http
