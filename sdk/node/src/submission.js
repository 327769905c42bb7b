// The texts of tasks to be stored.
import { currentTraceparent } from "./trace.js";

const MOST_TASKS = 10_000;
const MOST_BYTES = 8 * 1024 * 1024 - 64; // the daemon's limit, less the text around the tasks

const NAMES = {
  handler: "handler", args: "args", key: "key", onDuplicate: "on_duplicate", class: "class", businessType: "business_type",
  businessId: "business_id", tags: "tags", traceparent: "traceparent", delayMs: "delay_ms", dueAt: "due_at", deadline: "deadline", policy: "policy",
};
const POLICY_NAMES = { maxAttempts: "max_attempts", maxDurationMs: "max_duration_ms", backoff: "backoff" };

/** The JSON of one task. Throws TypeError if it cannot be written. */
export function taskText(task) {
  if (typeof task?.handler !== "string" || !task.handler) throw new TypeError("the task has no handler");
  if (!Array.isArray(task.args ?? [])) throw new TypeError(`args of a task for ${task.handler}: use an array of arguments`);
  const traceparent = currentTraceparent();
  const fields = renamed({ ...(traceparent && { traceparent }), ...task }, NAMES, "a task");
  if (task.policy) fields.policy = renamed(task.policy, POLICY_NAMES, "a policy");
  let text;
  try {
    text = jsonText(fields);
  } catch {
    throw new TypeError(`the arguments for ${task.handler} cannot be written as JSON; write whole numbers beyond 2^53 as strings`);
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > MOST_BYTES) {
    throw new RangeError(`a task for ${task.handler} needs ${bytes} bytes, but a daemon accepts ${MOST_BYTES}: store less with the task`);
  }
  return { text, bytes, rejects: task.onDuplicate === "reject" };
}

// A misspelt option must not be ignored.
function renamed(given, names, what) {
  const fields = {};
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(names, name)) throw new TypeError(`${what} has no ${name}; there is ${Object.keys(names).join(", ")}`);
    if (value !== undefined) fields[names[name]] = value;
  }
  return fields;
}

/** Throws for what JSON does not have. JSON.stringify would turn NaN into null, and leave out functions. */
export function jsonText(value) {
  const text = JSON.stringify(value, (_, one) => {
    if (typeof one === "number" && !Number.isFinite(one)) throw new TypeError(`${one} is not JSON`);
    if (typeof one === "function" || typeof one === "symbol") throw new TypeError(`a ${typeof one} is not JSON`);
    return one;
  });
  if (text === undefined) throw new TypeError("undefined is not JSON");
  return text;
}

/** The bodies of as few requests as possible. */
export function batchesOf(tasks) {
  const batches = [];
  let last;
  tasks.forEach((task, i) => {
    let one;
    try {
      one = taskText(task);
    } catch (error) {
      error.message = `task ${i + 1}: ${error.message}`;
      throw error;
    }
    if (!last || last.texts.length === MOST_TASKS || last.bytes + one.bytes + 1 > MOST_BYTES) {
      last = { texts: [], bytes: 0, rejects: false };
      batches.push(last);
    }
    last.texts.push(one.text);
    last.bytes += one.bytes + 1;
    last.rejects ||= one.rejects;
  });
  return batches.map(({ texts, rejects }) => ({ text: `{"tasks":[${texts.join(",")}]}`, rejects }));
}
