// The text of an answer, and what JSON.parse would get wrong in it.
import { EasyRetryError } from "./errors.js";

const MOST_BYTES = 64 << 20; // a lease has about 8 MiB; something else answers if there is far more

export class AnswerTooLong extends EasyRetryError {}

/** The text of a body that comes in pieces of bytes. Leaving it cancels what is still to come. */
export async function textOf(body) {
  const pieces = [];
  let bytes = 0;
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > MOST_BYTES) throw new AnswerTooLong(`it answered more than ${MOST_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

const LONG_VERSION = /"version"\s*:\s*\d{16,}/;

/** The JSON of an answer, or undefined. The version of a task is a text if a number would lose digits. */
export function parsed(text) {
  try {
    return JSON.parse(LONG_VERSION.test(text) ? withLongVersionsAsTexts(text) : text);
  } catch {
    return undefined;
  }
}

// Only versions of the answer itself and of its `tasks`. Arguments and results are the user's, and stay as they are.
function withLongVersionsAsTexts(text) {
  const open = []; // the names of the objects and arrays around this place
  let changed = "";
  let copied = 0;
  let name;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') {
      const end = closingQuote(text, at);
      name = text.slice(at + 1, end);
      at = end;
      const [, before, digits] = name === "version" && isOfTask(open) ? versionAt(text, end + 1) : [];
      if (digits === undefined || Number.isSafeInteger(Number(digits))) continue;
      const from = end + 1 + before.length;
      changed += `${text.slice(copied, from)}"${digits}"`;
      copied = from + digits.length;
      at = copied - 1;
    } else if (sign === "{" || sign === "[") {
      open.push(name);
      name = undefined;
    } else if (sign === "}" || sign === "]") {
      open.pop();
    }
  }
  return changed + text.slice(copied);
}

function isOfTask(open) {
  return open.length === 1 || (open.length === 3 && open[1] === "tasks");
}

function versionAt(text, at) {
  VERSION.lastIndex = at;
  return VERSION.exec(text) ?? [];
}

const VERSION = /(\s*:\s*)(\d+)(?=\s*[,}])/y;

function closingQuote(text, at) {
  let end = at;
  do end = text.indexOf('"', end + 1);
  while (end > 0 && isEscaped(text, end));
  return end > 0 ? end : text.length;
}

function isEscaped(text, at) {
  let slashes = 0;
  while (text[at - 1 - slashes] === "\\") slashes++;
  return slashes % 2 === 1;
}
