import { deepEqual, rejects } from "node:assert/strict";
import { CommandError } from "../../commands/program.ts";
import { followJob } from "../../commands/service_job.ts";

/** The answer of `GET /api/jobs/kinds`. */
const KINDS = JSON.stringify({
  kinds: [{ id: "container.update", steps: { pull: "Pull the image", wait_well: "Watch it" } }],
});

/** Follows a job that ends so. */
function follow(job: object, steps: object[] = []) {
  const noted: string[] = [];
  async function* frames() {
    for (const data of steps) yield { id: undefined, event: "step", data };
    yield { id: undefined, event: "done", data: { id: "j1", error: null, result: null, ...job } };
  }
  const service = {
    events: () => Promise.resolve(frames()),
    isLost: () => false,
    text: () => Promise.resolve(KINDS),
  };
  const note = (line: string) => noted.push(line);
  const signal = new AbortController().signal;
  return {
    noted,
    followed: followJob({ note, signal }, service, { id: "j1", kind: "container.update" }),
  };
}

Deno.test("followJob() returns the result of a job that succeeded", async () => {
  const { noted, followed } = follow({ status: "succeeded", result: { version: 2 } });

  deepEqual(await followed, { version: 2 });
  deepEqual(noted, []);
});

Deno.test("followJob() prints the last lines and health check of failed containers", async () => {
  const logLines = Array.from({ length: 25 }, (_, index) => `2026-01-01T00:00:00Z line ${index}`);
  logLines.push("2026-01-01T00:00:01Z ", "2026-01-01T00:00:02Z   \x1b[31mred\x1b[0m\x07");

  const { noted, followed } = follow({
    status: "rolled_back",
    error: "web-1 became unhealthy",
    result: {
      evidence: [
        {
          container: "web-1",
          logLines,
          healthLog: [
            { exitCode: 0, output: "fine" },
            { exitCode: 7, output: "refused\nby the server\n" },
          ],
        },
        { container: "db-1", logLines: [], healthLog: [] },
      ],
    },
  });

  await rejects(followed, new CommandError("Job j1: rolled back: web-1 became unhealthy"));
  deepEqual(noted, [
    "Last log lines of web-1:",
    ...Array.from({ length: 18 }, (_, index) => `  line ${index + 7}`),
    "  ",
    "    red",
    "Last health check of web-1: exit code 7",
    "  refused",
    "  by the server",
    "Last log lines of db-1: none",
  ]);
});

Deno.test("followJob() reports a job that failed without a result", async () => {
  const { noted, followed } = follow({ status: "failed", error: "The registry refused" });

  await rejects(followed, new CommandError("Job j1: failed: The registry refused"));
  deepEqual(noted, []);
});

Deno.test("followJob() says each reason once", async () => {
  const reason = "web exited with code 3";
  const { noted, followed } = follow({ status: "rolled_back", error: reason }, [
    { name: "pull", status: "succeeded", message: null },
    { name: "pull 2", status: "failed", message: "no such host" },
    { name: "wait_well", status: "failed", message: reason },
    { name: "wait_well", status: "failed", message: reason },
    { name: "of a later version", status: "succeeded", message: null },
  ]);

  await rejects(followed, new CommandError(`Job j1: rolled back: ${reason}`));
  deepEqual(noted, [
    "Pull the image: succeeded",
    "Pull the image (2): failed",
    "Watch it: failed",
    "of a later version: succeeded",
    "no such host",
  ]);
});
