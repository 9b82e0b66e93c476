
import { Hono } from "hono";
const app = new Hono();
app.get("/livez", (c) => c.json({ status: "ok" }));
const file = Deno.env.get("BODY_FILE");
const body = file && Deno.readFileSync(file);
app.get("/body", () => new Response(body, { headers: { "content-type": "application/json" } }));
const retry = new TextEncoder().encode("retry: 5000\n\n");
app.get("/api/stream", () =>
  new Response(new ReadableStream({ start: (stream) => stream.enqueue(retry) }), {
    headers: { "content-type": "text/event-stream" },
  }));
Deno.serve({ port: Number(Deno.env.get("PORT")), hostname: "127.0.0.1", onListen() {} }, app.fetch);
