#include "server/refusal.h"

#include <easyretry/error.h>
#include <easyretry/json_text.h>
#include <easyretry/submit.h>

namespace easyretry::server {
namespace {

http::Problem problem_of(const Error& error) {
  switch (error.code) {
    case Errc::in_doubt:
      return {503, "in_doubt", "the store did not confirm the change: " + error.detail,
              "look up the task by its key; it is safe to send the request again with the same key"};
    case Errc::invalid_argument: return {422, "invalid", error.detail};
    case Errc::already_exists:
      return {409, "duplicate_key", error.detail,
              "the existing task is not affected; leave out on_duplicate to get its id"};
    default:
      return {503,
              "store_unavailable",
              "the store does not answer: " + error.detail,
              "nothing was changed; try again",
              {{"Retry-After", "1"}}};
  }
}

}  // namespace

http::Problem problem_of_current_exception() {
  try {
    throw;
  } catch (const Refusal& e) {
    return e.problem();
  } catch (const JsonError& e) {
    return {400, "bad_json", e.what()};
  } catch (const StoreError& e) {
    return problem_of(e.error());
  } catch (const DuplicateTask& e) {
    return {409, "duplicate_key", e.what(), "the existing task is not affected; leave out on_duplicate to get its id"};
  } catch (const std::invalid_argument& e) {
    return {422, "invalid", e.what()};
  } catch (...) {
    return {};
  }
}

}  // namespace easyretry::server
