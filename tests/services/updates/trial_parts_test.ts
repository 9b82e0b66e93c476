import { deepEqual } from "node:assert/strict";
import { insertJob, type Job } from "../../../db/jobs.ts";
import { removeLeftTrials } from "../../../services/updates/trial/parts.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

const JOB: Job = {
  id: "begun",
  kind: "container.update",
  targetType: "container",
  target: "web",
  stack: null,
  status: "running",
  progress: null,
  steps: [],
  input: {},
  error: null,
  result: null,
  createdBy: "api-key",
  tokenId: null,
  createdAt: "2026-01-01T12:00:00Z",
  startedAt: "2026-01-01T12:00:00Z",
  endedAt: null,
};

Deno.test("what others have marked, and parts of a trial that begins meanwhile, are not removed", async () => {
  using app = testApp();
  const { id } = app.deps.server;
  const left = { "longshore.trial": `${id}/left`, "longshore.helper": `${id}/1/long` };
  const name = (digit: string) => `longshore-trial-${digit.repeat(12)}`;
  await using fake = fakeEngine({
    "GET /containers/json": () =>
      Response.json([
        { Id: "a".repeat(64), Names: ["/longshore-helper-aaaaaaaaaaaa"], Labels: left },
        // Its image has the labels.
        { Id: "b".repeat(64), Names: ["/web"], Labels: left },
      ]),
    "DELETE /containers/*": () => {
      insertJob(app.deps.db, JOB);
      return new Response(null, { status: 204 });
    },
    "GET /networks": () =>
      Response.json([
        { Id: "1", Name: name("1"), Labels: left },
        { Id: "2", Name: name("2"), Labels: { "longshore.trial": `${id}/begun` } },
        { Id: "3", Name: "shop", Labels: left },
      ]),
    "GET /volumes": () =>
      Response.json({
        Volumes: [
          { Name: name("4"), Labels: left },
          { Name: name("5"), Labels: { "longshore.trial": `${id}/begun` } },
          { Name: "data", Labels: left },
        ],
      }),
  });
  await removeLeftTrials({ ...app.deps, engine: fake.engine });
  deepEqual(fake.requests.filter((each) => each.startsWith("DELETE")), [
    `DELETE /containers/${"a".repeat(64)}?force=true&v=true`,
    "DELETE /networks/1",
    `DELETE /volumes/${name("4")}`,
  ]);
});
