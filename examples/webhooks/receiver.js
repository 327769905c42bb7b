// A handler behind a URL, in Node without packages: node receiver.js PORT SECRET
"use strict";
const crypto = require("node:crypto");
const http = require("node:http");

// body: a Buffer with the bytes as they came, before they are read as JSON
function verified(secret, headers, body) {
  const message = headers["webhook-id"], sent = headers["webhook-timestamp"];
  if (!(Math.abs(Date.now() / 1000 - Number(sent)) <= 300)) return false; // too old: it may be a replay
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const right = crypto.createHmac("sha256", key).update(`${message}.${sent}.`).update(body).digest("base64");
  return headers["webhook-signature"].split(" ").some((given) =>
    given.length === right.length + 3 && crypto.timingSafeEqual(Buffer.from(given), Buffer.from("v1," + right)));
}

const [port, secret] = process.argv.slice(2);
const server = http.createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  const good = verified(secret, request.headers, body);
  if (good) console.log(decodeURIComponent(request.headers["easyretry-task-key"]), body.toString());
  response.writeHead(good ? 200 : 401).end();
});
server.listen(Number(port), "127.0.0.1", () => console.log("listening at", server.address().port));
