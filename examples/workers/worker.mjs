// A worker in Node 18 or newer, without packages: leases tasks of "mail.send" from `easyretry serve` and settles them.
//
//   EASYRETRY_TOKEN=$(cat easyretry.tokens.first) node worker.mjs http://127.0.0.1:7077

const server = process.argv[2] ?? "http://127.0.0.1:7077";
const headers = { Authorization: `Bearer ${process.env.EASYRETRY_TOKEN}` };
let stopping = false;
process.on("SIGTERM", () => (stopping = true));

async function post(path, body) {
  const answer = await fetch(server + path, { method: "POST", headers, body: JSON.stringify(body) });
  const said = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(said.error.message), { status: answer.status });
  return said;
}

// Your own code. Any exception is a failed attempt, and the handler's policy decides on the next one.
async function sendMail(order) {
  if (order.to.startsWith("nobody")) throw new RangeError(`${order.to} has no mailbox`);
  console.log(`mail to ${order.to}`);
  return { sent: true };
}

async function work(task) {
  const version = task.version;
  // While the work goes on, ask for a full lease again whenever a third of it has passed.
  const renewing = setInterval(() => post(`/v1/leases/${task.id}/renew`, { version, lease_ms: 30_000 }).catch(() => {}), 10_000);
  let verb = "done";
  let body;
  try {
    body = { result: await sendMail(...task.args) };
  } catch (error) {
    verb = "fail";
    body = { error: error.message, give_up: error instanceof RangeError };
  } finally {
    clearInterval(renewing);
  }
  await post(`/v1/leases/${task.id}/${verb}`, { version, ...body }).catch((error) => {
    if (error.status !== 409) throw error; // lost lease: another worker has the task now, and nothing was changed
  });
}

while (!stopping) {
  try {
    const { tasks } = await post("/v1/leases", { handlers: ["mail.send"], max: 1, wait_ms: 5_000 });
    for (const task of tasks) await work(task);
  } catch (error) {
    console.error(`the server does not answer, trying again: ${error.message}`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}
