// Sends single requests to one daemon. Each failure becomes an error that says what the caller can do about it.
import { readFileSync } from "node:fs";

import { AnswerTooLong, parsed, textOf } from "./answer.js";
import { Refusal, Unanswered } from "./errors.js";
import { Line, Sender } from "./line.js";
import { checkedTimer } from "./pauses.js";

const CERTIFICATE_CODES = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME|UNABLE_TO_GET_ISSUER/;
const NOT_TLS_CODES = /WRONG_VERSION|EPROTO|ERR_SSL/;
const NOT_SENT_CODES = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

export class Connection {
  #token;
  #tokenFile;
  #fetch;
  #ca;
  #sender;

  constructor({ url, token, tokenFile, caFile, namespace, allowPlainHttp, requestTimeoutMs, fetch }) {
    const { EASYRETRY_URL, EASYRETRY_TOKEN, EASYRETRY_TOKEN_FILE, EASYRETRY_CA_FILE } = process.env;
    this.url = checkedUrl(url ?? (EASYRETRY_URL || "http://127.0.0.1:7077"), allowPlainHttp);
    if (token && tokenFile) throw new TypeError("set token or tokenFile, not both");
    this.#tokenFile = tokenFile ?? (token === undefined && !EASYRETRY_TOKEN ? EASYRETRY_TOKEN_FILE : undefined);
    this.#token = this.#tokenFile ? readToken(this.#tokenFile) : token ?? EASYRETRY_TOKEN;
    if (!this.#token) {
      throw new TypeError("no token: set token, tokenFile, EASYRETRY_TOKEN or EASYRETRY_TOKEN_FILE; `easyretry token create` makes one");
    }
    this.namespace = namespace;
    this.timeoutMs = checkedTimer("requestTimeoutMs", requestTimeoutMs);
    this.#fetch = fetch;
    if (fetch === undefined && this.url.startsWith("https:")) this.#trust(caFile ?? EASYRETRY_CA_FILE);
  }

  #trust(caFile) {
    if (!caFile) return;
    this.#ca = readCertificates(caFile);
    this.#sender = new Sender({ ca: this.#ca });
  }

  /** `{ body, header }` of a successful answer. `waitMs` is how long the daemon may take by itself. */
  async ask(request) {
    const token = this.#token;
    try {
      return await this.#askOnce(request);
    } catch (error) {
      if (error.status !== 401 || !this.#hasNewToken(token)) throw error;
      return this.#askOnce(request);
    }
  }

  /** The error for JSON that is not what was asked for. */
  incomplete(number) {
    return new Unanswered(`${this.url} did not answer for each of ${number} tasks`, true);
  }

  // A fetch of the application's own is used for everything.
  #fetchOn(line) {
    const sender = line ?? this.#sender;
    return this.#fetch ?? (sender ? sender.fetch.bind(sender) : globalThis.fetch);
  }

  /** For polls that are ended without losing what is on its way; undefined if that cannot be. */
  lineUntil(stop) {
    return this.#fetch === undefined ? new Line(stop, this.#ca) : undefined;
  }

  #hasNewToken(refused) {
    try {
      if (this.#tokenFile) this.#token = readToken(this.#tokenFile);
    } catch {
      return false; // it may be about to be replaced
    }
    return this.#token !== refused;
  }

  async #askOnce({ method = "POST", path, body, waitMs = 0, timeoutMs = this.timeoutMs, headers, signal, line }) {
    const limit = waitMs + timeoutMs;
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), limit);
    const stop = () => abort.abort();
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    let response, text;
    try {
      response = await this.#fetchOn(line)(this.url + path, {
        method, body, redirect: "manual", signal: abort.signal,
        headers: {
          Authorization: `Bearer ${this.#token}`,
          ...(body !== undefined && { "Content-Type": "application/json" }),
          ...(this.namespace && { "easyretry-namespace": this.namespace }),
          ...headers,
        },
      });
      text = await textOf(response.body);
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      if (error instanceof AnswerTooLong) throw this.#stranger(response, error.message);
      throw this.#unanswered(error, abort.signal.aborted ? limit : undefined);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    }
    return this.#read(response, text);
  }

  #read(response, text) {
    const header = (name) => response.headers.get(name) ?? "";
    const kind = header("content-type") || "no content type";
    if (response.type === "opaqueredirect" || (response.status >= 300 && response.status < 400)) {
      const where = hostOf(header("location"));
      throw this.#stranger(response, `it redirects to ${where}; set the address of the daemon itself, because a token is not sent elsewhere`);
    }
    const body = parsed(text);
    if (response.status >= 400) throw this.#refusal(response, body, kind, {
      retryAfterMs: retryAfterMs(header("retry-after")),
      remembersMs: Number(header("easyretry-remembers-ms")) || 0,
    });
    // Other servers may answer with JSON, too. Only a daemon says the time of its store.
    if (typeof body !== "object" || body === null || !header("easyretry-time")) {
      throw this.#stranger(response, `it answered ${kind}, which is not the JSON of this API`);
    }
    return { body, header };
  }

  #refusal(response, body, kind, times) {
    const said = body?.error;
    if (typeof said?.code === "string") return new Refusal(response.status, { ...said, requestId: said.request_id, ...times });
    if (response.status === 429 || response.status >= 500) {
      const message = `${this.url} gave an error that is not of a daemon (${kind}), perhaps from a proxy`;
      return new Refusal(response.status, { message, ...times });
    }
    return this.#stranger(response, `it answered ${kind}`);
  }

  // Never quotes the body: it may contain anything.
  #stranger(response, why) {
    return new Unanswered(`${this.url} is not an EasyRetry daemon of this version (HTTP ${response.status}): ${why}`, true);
  }

  #unanswered(error, limit) {
    if (limit !== undefined) return new Unanswered(`${this.url} did not answer within ${limit} ms`, true);
    const cause = error.cause ?? error;
    const code = String(cause.code ?? "");
    if (CERTIFICATE_CODES.test(code)) {
      const fix = "set caFile or EASYRETRY_CA_FILE to the PEM of the authority that signed it";
      return new Unanswered(`the certificate of ${this.url} is not trusted (${code}); ${fix}`, false, error);
    }
    if (NOT_TLS_CODES.test(code)) {
      return new Unanswered(`the server at ${this.url} does not speak TLS (${code}); use http:// if the daemon has no certificate`, false, error);
    }
    if (NOT_SENT_CODES.test(code)) {
      return new Unanswered(`no daemon answers at ${this.url} (${code}); start it, or correct the address`, false, error);
    }
    return new Unanswered(`the connection to ${this.url} was cut before the answer was complete (${code || cause.name})`, true, error);
  }
}

function readToken(file) {
  let token;
  try {
    token = readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new TypeError(`tokenFile: ${file} cannot be read (${error.code})`);
  }
  if (!token) throw new TypeError(`tokenFile: ${file} is empty`);
  return token;
}

// Node ignores a file without certificates, and then trusts nobody.
function readCertificates(file) {
  let text;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new TypeError(`caFile: ${file} cannot be read (${error.code})`);
  }
  if (!text.includes("-----BEGIN CERTIFICATE-----")) throw new TypeError(`caFile: ${file} contains no certificate in PEM`);
  return text;
}

function checkedUrl(text, plainAllowed) {
  let url;
  try {
    url = new URL(text);
  } catch {
    url = { protocol: "none" };
  }
  if (!/^https?:$/.test(url.protocol)) throw new TypeError(`the URL of the daemon is ${JSON.stringify(text)}; use one like http://127.0.0.1:7077`);
  if (url.username || url.password || url.search) {
    throw new TypeError("the URL of the daemon has a user, a password or a query; leave them out, and set token");
  }
  const here = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol === "http:" && !plainAllowed && !here) {
    throw new TypeError(`http:// to another machine (${url.host}) would show the token to anyone on the way; use https://, or set allowPlainHttp`);
  }
  return url.href.replace(/\/+$/, "");
}

function hostOf(location) {
  try {
    return new URL(location).host;
  } catch {
    return "another path";
  }
}

// Seconds, as daemons send them, or a date, as proxies may.
function retryAfterMs(text) {
  if (!text) return 0;
  const ms = Number.isFinite(Number(text)) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return ms > 0 ? ms : 0;
}
