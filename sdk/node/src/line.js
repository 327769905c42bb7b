// The connection of a worker's long polls. If it were closed when the worker stops, tasks that are on their way would wait until
// their leases have expired. So only our side stops sending: the daemon answers the poll at once, and tasks that it has already
// lent arrive. fetch cannot do this.
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

const LAST_ANSWER_MS = 2_000; // after the stop

export class Line {
  #sender;
  #stop;

  /** The signal ends the polls. `ca` is what Sender takes. */
  constructor(stop, ca) {
    this.#stop = stop;
    this.#sender = new Sender({ ca, maxSockets: 1 });
  }

  fetch(url, request) {
    return this.#sender.fetch(url, request, (sent) => {
      const hangUp = () => {
        if (!sent.socket) return sent.destroy(); // nothing was sent
        sent.socket.end();
        setTimeout(() => sent.destroy(), LAST_ANSWER_MS).unref();
      };
      this.#stop.addEventListener("abort", hangUp);
      sent.on("close", () => this.#stop.removeEventListener("abort", hangUp));
    });
  }

  close() {
    this.#sender.close();
  }
}

/** Sends requests without fetch, which can neither end half a connection nor trust an authority of its own. */
export class Sender {
  #agents;

  /** `ca` is the text of certificates in PEM, instead of the system's authorities. */
  constructor({ ca, maxSockets = Infinity }) {
    const options = { keepAlive: true, maxSockets };
    this.#agents = { "http:": new HttpAgent(options), "https:": new HttpsAgent({ ...options, ca }) };
  }

  /** As fetch: `{ status, headers, body }`. */
  fetch(url, { method, body, headers, signal }, look = () => {}) {
    const { protocol } = new URL(url);
    const ask = protocol === "https:" ? httpsRequest : httpRequest;
    return new Promise((resolve, reject) => {
      const sent = ask(url, { method, headers, signal, agent: this.#agents[protocol] });
      sent.on("error", reject);
      sent.on("response", (answer) => resolve({ status: answer.statusCode, headers: { get: (name) => answer.headers[name] }, body: answer }));
      look(sent);
      sent.end(body);
    });
  }

  close() {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }
}
