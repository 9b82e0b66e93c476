// Prints the events of a Longshore webhook after checking their signature (Standard Webhooks).
// Run: WEBHOOK_SECRET=whsec_... node receiver.mjs
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import process from "node:process";

const key = Buffer.from(process.env.WEBHOOK_SECRET.replace(/^whsec_/, ""), "base64");

createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString();
  const header = (name) => request.headers[`webhook-${name}`] ?? "";
  const signed = `${header("id")}.${header("timestamp")}.${body}`;
  const expected = Buffer.from(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
  const isGenuine = header("signature").split(" ").map((each) => Buffer.from(each))
    .some((each) => each.length === expected.length && timingSafeEqual(each, expected));
  const isRecent = Math.abs(Date.now() / 1000 - header("timestamp")) < 300;
  if (isGenuine && isRecent) console.log(body);
  response.writeHead(isGenuine && isRecent ? 204 : 401).end();
}).listen(process.env.PORT ?? 8080, function () {
  console.log(`listening on port ${this.address().port}`);
});
