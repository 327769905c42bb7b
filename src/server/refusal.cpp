#include "server/refusal.h"

#include <easyretry/detail/json_text.h>
#include <easyretry/error.h>
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

http::Problem no_such_task(const std::string& id) {
  return {404, "not_found", "there is no task " + id + " in this namespace",
          "tasks that ended long ago are removed from history"};
}

http::Problem busy() {
  return {503, "busy", "too many requests are waiting for the store", "try again later", {{"Retry-After", "1"}}};
}

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
  } catch (const std::exception& e) {
    return {.cause = e.what()};
  } catch (...) {
    return {.cause = "an exception that is not a std::exception"};
  }
}

}  // namespace easyretry::server
