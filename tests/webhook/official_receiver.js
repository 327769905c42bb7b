// A receiver that leaves all verification to the official package: node official_receiver.js FOLDER_OF_PACKAGE SECRET
"use strict";
const http = require("node:http");
const { Webhook } = require(process.argv[2]);

const webhook = new Webhook(process.argv[3]);
const server = http.createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts).toString();
  try {
    webhook.verify(body, request.headers);
  } catch {
    return response.writeHead(401).end();
  }
  console.log(decodeURIComponent(request.headers["easyretry-task-key"]), body);
  response.writeHead(200).end();
});
server.listen(0, "127.0.0.1", () => console.log("listening at", server.address().port));
