import { equal, ok } from "node:assert/strict";
import { startNotifying } from "../../commands/supervisor.ts";
import { createLog } from "../../services/log.ts";
import { until } from "../helpers/until.ts";
import { requestOwn } from "../../commands/own_request.ts";

Deno.test("a service that does not answer its own request is not reported as alive", async () => {
  const lines: string[] = [];
  const log = createLog(
    { level: "info", format: "json", now: () => new Date() },
    (line) => lines.push(line),
  );
  let requests = 0;
  let isAlive = false;
  const notifying = await startNotifying({ WATCHDOG_USEC: "2000" }, log, () => {
    requests++;
    return Promise.resolve(isAlive ? undefined : "no answer");
  });
  await until("it was requested again after failures", () => requests > 3);
  equal(lines.length >= 3, true);
  ok(lines.every((line) => line.includes("service does not answer its own request")));
  isAlive = true;
  const before = requests;
  await until("it goes on", () => requests > before + 2);
  await notifying.stopping();
  equal(lines.length <= before, true);
});

Deno.test("a request to a port where no service listens has a reason instead of a status", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const found = await requestOwn({ host: "0.0.0.0", port, isTls: false }, "/livez");
  equal(typeof found, "string");
});
