#pragma once
// What became of an execution, for the statistics and for whoever listens.

#include "engine/context.h"

namespace easyretry::engine {

// `task` as the execution saw it; called once the settlement is in force.
void report(Context& context, const task::Settlement& settlement, const TaskInfo& task);

// What housekeeping did, to the log as well.
void report(Context& context, const storage::KeepStep& step);

// As `report`, for a task that was just stored.
void report_stored(Context& context, const task::NewTask& task, TaskId id, TimePoint due);
// `ended` has just been stored again, as `id`.
void report_requeued(Context& context, const TaskInfo& ended, TaskId id);

}  // namespace easyretry::engine
