// The connection of a worker's long polls. If it were closed when the worker stops, tasks that are on their way would wait until
// their leases have expired. So only our side stops sending: the daemon answers the poll at once, and tasks that it has already
// lent arrive. fetch cannot do this.
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

const MOST_BYTES = 64 << 20; // a lease has about 8 MiB; something else answers if there is far more
const LAST_ANSWER_MS = 2_000; // after the stop

export class Line {
  #agents = { "http:": new HttpAgent({ keepAlive: true, maxSockets: 1 }), "https:": new HttpsAgent({ keepAlive: true, maxSockets: 1 }) };
  #stop;

  /** The signal ends the polls. */
  constructor(stop) {
    this.#stop = stop;
  }

  /** As fetch: `{ status, headers, text() }`. */
  fetch(url, { method, body, headers, signal }) {
    const { protocol } = new URL(url);
    const ask = protocol === "https:" ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const sent = ask(url, { method, headers, signal, agent: this.#agents[protocol] });
      const hangUp = () => {
        if (!sent.socket) return sent.destroy(); // nothing was sent
        sent.socket.end();
        setTimeout(() => sent.destroy(), LAST_ANSWER_MS).unref();
      };
      this.#stop.addEventListener("abort", hangUp);
      sent.on("close", () => this.#stop.removeEventListener("abort", hangUp));
      sent.on("error", reject);
      sent.on("response", (answer) => read(answer).then(resolve, reject));
      sent.end(body);
    });
  }

  close() {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }
}

async function read(answer) {
  const pieces = [];
  let bytes = 0;
  for await (const piece of answer) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > MOST_BYTES) throw new RangeError("the answer is too long");
  }
  const text = Buffer.concat(pieces).toString("utf8");
  return { status: answer.statusCode, headers: { get: (name) => answer.headers[name] }, text: async () => text };
}
