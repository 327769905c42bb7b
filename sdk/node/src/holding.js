/** The leases of a worker, and the number of handlers that run. */
export class Holding {
  leases = new Set();
  running = 0;
  #waiting = new Set(); // functions that look again

  change(how) {
    how(this);
    for (const look of [...this.#waiting]) look();
  }

  /** Resolves with true when the condition holds, with false after this time. */
  await(condition, ms = Infinity) {
    if (condition()) return true;
    return new Promise((resolve) => {
      const end = (result) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(result);
      };
      const look = () => condition() && end(true);
      const timer = ms === Infinity ? undefined : setTimeout(() => end(false), Math.max(0, ms));
      this.#waiting.add(look);
    });
  }
}
