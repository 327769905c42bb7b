#pragma once
// Turns rows of the inbox into tasks, inside one transaction.

#include <functional>

#include "storage/sql/session.h"

namespace easyretry::storage::sql {

using InsertAll = std::function<std::vector<Inserted>(std::span<const NewTask* const>)>;

IntakeReply take_in(Session& session, const IntakeQuery& query, const Convert& convert, TimePoint now,
                    const InsertAll& insert);

}  // namespace easyretry::storage::sql
