const HIDDEN = Symbol.for("nodejs.util.inspect.custom");

/** A task as the daemon shows it. Printed without arguments, key and result, which may be secrets. */
class Task {
  [HIDDEN]() {
    return `Task { id: '${this.id}', handler: '${this.handler}', attempts: ${this.attempts} }`;
  }
}

const TIMES = new Set(["created_at", "next_at", "finished_at", "lease_until"]);
const names = new Map(); // of fields that were seen; there are about thirty

function nameOf(field) {
  let name = names.get(field);
  if (name === undefined) {
    name = field.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
    if (names.size < 1000) names.set(field, name);
  }
  return name;
}

/** Names as in JavaScript, times as Date. Fields that this version does not know stay, so nothing of a newer daemon is lost. */
export function taskOf(fields) {
  const task = new Task();
  for (const [field, value] of Object.entries(fields)) task[nameOf(field)] = TIMES.has(field) ? new Date(value) : value;
  return task;
}
