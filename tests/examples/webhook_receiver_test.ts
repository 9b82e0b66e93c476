import { equal, match } from "node:assert/strict";
import { signDelivery } from "../../services/messages/webhooks/post.ts";
import { until } from "../helpers/until.ts";

const SECRET = `whsec_${new Uint8Array(24).fill(7).toBase64()}`;
const BODY = `{"event":"test","timestamp":"2026-01-01T00:00:00.000Z","data":{}}`;

Deno.test("the example receiver prints what Longshore signed and refuses everything else", async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-config", "--allow-net", "--allow-env", "receiver.mjs"],
    cwd: new URL("../../examples/webhook-receiver/", import.meta.url),
    env: { WEBHOOK_SECRET: SECRET, PORT: "0", NO_COLOR: "1" },
    stdin: "null",
    stdout: "piped",
  }).spawn();
  let printed = "";
  const reading = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) printed += text;
  })();
  try {
    const port = await until("the receiver listens", () => /port (\d+)/.exec(printed)?.[1]);
    const send = async (timestamp: number, body = BODY) => {
      const signature = await signDelivery(SECRET, "msg_1", timestamp, BODY);
      const response = await fetch(`http://127.0.0.1:${port}/`, {
        method: "POST",
        headers: {
          "webhook-id": "msg_1",
          "webhook-timestamp": String(timestamp),
          "webhook-signature": `v1,AAAA ${signature}`,
        },
        body,
      });
      await response.body?.cancel();
      return response.status;
    };
    const now = Math.floor(Date.now() / 1000);

    equal(await send(now, BODY.replace("test", "fake")), 401);
    equal(await send(now - 3600), 401);
    equal(await send(now), 204);
    await until("the event is printed", () => printed.includes(BODY));
    match(printed, /^listening on port \d+\n\{[^\n]*\}\n$/);
  } finally {
    child.kill("SIGKILL");
    await child.status;
    await reading;
  }
});
