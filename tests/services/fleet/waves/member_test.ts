import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { selectUpdateVerdicts } from "../../../../db/updates/verdicts.ts";
import { replaceMembership } from "../../../../db/fleet_membership.ts";
import { upsertPreviousImage } from "../../../../db/updates/previous.ts";
import type { Control } from "../../../../services/fleet/link/control.ts";
import type { OpenLink } from "../../../../services/fleet/link/open_link.ts";
import { sealBlock } from "../../../../services/fleet/waves/block.ts";
import { keepBlock } from "../../../../services/fleet/waves/kept.ts";
import { Report } from "../../../../services/fleet/waves/report.ts";
import { enginePlatform, reportOf } from "../../../../services/fleet/waves/reporter.ts";
import { refusalOf } from "../../../../services/updates/automatic/reached.ts";
import { assertAllowed, NotReachedError } from "../../../../services/updates/run/allowed.ts";
import type { UpdateJob } from "../../../../services/updates/run/job.ts";
import { recordVerdict } from "../../../../services/updates/run/recorded_verdict.ts";
import { simulateContainers } from "../../../helpers/fake_containers.ts";
import type { TestApp } from "../../../helpers/test_app.ts";
import { digestOf, manifest, startTagServer, updateApp } from "../../../helpers/updates.ts";

const NEW = manifest("new");
const IMAGE = { digest: NEW, platform: "linux/amd64" };

function joinFleet({ deps }: TestApp): void {
  replaceMembership(deps.db, {
    ...{ address: "", hubKey: "", hubNoteKey: "", hubName: "hub-1", hostId: "h1", name: "edge-7" },
    ...{
      isPending: false,
      challenge: null,
      challengeProof: null,
      joinedAt: "",
      asksHub: true,
      hubTakesEvents: false,
    },
    labels: {},
  });
  deps.fleet.refresh();
}

/** As if the hub had blocked it. */
async function block({ deps }: TestApp): Promise<void> {
  const content = {
    ...{ ...IMAGE, number: 1, isBlocked: true, image: "app:1", host: "edge-1", container: "web" },
    ...{ reason: "web exited with code 1", log: ["boom"], at: "", verdicts: [] },
  };
  const text = await sealBlock(() => Promise.resolve(new Uint8Array(64)), content);
  keepBlock(deps, "hub", { ...IMAGE, number: 1, isBlocked: true, text });
}

/** The container `web` of a registry that has a new image. */
function outdated() {
  const registry = startTagServer();
  const image = `${registry.address}/app:1`;
  registry.tags.set("app:1", NEW);
  const made = updateApp(
    [{ id: digestOf("a"), digests: [`${registry.address}/app@${manifest("old")}`] }],
    {},
    {
      ...simulateContainers([{ name: "web", image }]),
      "GET /images/*/json": () =>
        Response.json({ Id: digestOf("a"), Os: "linux", Architecture: "amd64", Size: 1 }),
      "GET /info": () => Response.json({}),
    },
  );
  made.run([{ name: "web", image, imageId: digestOf("a") }]);
  return {
    ...made,
    image,
    async [Symbol.asyncDispose]() {
      await made[Symbol.asyncDispose]();
      await registry[Symbol.asyncDispose]();
    },
  };
}

Deno.test("a member waits for its hub before an automatic update, a person does not", async () => {
  await using made = await outdated();
  const { deps } = made.app;
  const ask = () => refusalOf(deps, { imageId: digestOf("a"), image: made.image, digest: NEW });
  equal(await ask(), undefined, "without a fleet");
  joinFleet(made.app);
  match((await ask())!, /It waits for the hub hub-1, which is away/);
  const asked: Control[] = [];
  let refusal: string | null = "not yet";
  deps.fleet.hub.link = {
    tell(message: Control) {
      asked.push(message);
      if (message.type === "ask") deps.fleet.hub.questions.answer(message.id, refusal);
    },
  } as OpenLink;
  equal(await ask(), "not yet");
  deepEqual(asked, [{ type: "ask", id: 0, ...IMAGE, image: made.image }]);

  const pulled = { ...IMAGE, imageId: digestOf("b"), digests: [NEW] };
  const job = (isAutomatic?: boolean) =>
    ({ input: { isAutomatic, reference: made.image } }) as UpdateJob;
  await rejects(assertAllowed(deps, job(true), pulled), NotReachedError);
  await assertAllowed(deps, job(), pulled);
  refusal = null;
  equal(await ask(), undefined);
  await assertAllowed(deps, job(true), pulled);
});

Deno.test("an update by hand to a blocked image is refused with the reason, unless it has force", async () => {
  await using made = await outdated();
  joinFleet(made.app);
  await block(made.app);
  const update = (body: object) => made.app.call("POST", "/api/containers/web/update", body);
  const { status, body } = await update({});
  equal(status, 409);
  // Without the log, which not all callers may read.
  const text = /failed on host edge-1: web exited with code 1$/;
  match(body.error, text);
  const plan = await made.app.call("POST", "/api/containers/web/update?plan=1", {});
  const [obstacle] = plan.body.obstacles;
  match(obstacle.message, text);
  equal(obstacle.canForce, true);
});

Deno.test("verdicts of updates are recorded in a fleet, and reported with the state of their containers", async () => {
  await using made = await outdated();
  const { deps } = made.app;
  const given = { name: "web", reference: made.image, isRebuild: false, previousImageId: null };
  const job = (changes = {}) => ({ input: { ...given, ...changes } }) as unknown as UpdateJob;
  const verdict = { ...IMAGE, digests: [NEW], imageId: digestOf("a"), reason: "web is healthy" };
  const record = (changes = {}, of: object = {}) =>
    recordVerdict(deps, job(changes), { ...verdict, outcome: "success", ...of });
  record();
  joinFleet(made.app);
  record({ isRebuild: true });
  record({ previousImageId: "x" });
  record({}, { platform: undefined });
  deepEqual(selectUpdateVerdicts(deps.db), []);
  record();
  record();
  const evidence = [{
    container: "web",
    logLines: ["2026-01-01T00:00:00Z \u001b[31mboom"],
    healthLog: [],
  }];
  record({ name: "db" }, { outcome: "failure", evidence });

  const report = async () => {
    const containers = deps.inventory.list();
    const options = { containers, platform: "linux/amd64", looping: new Set<string>() };
    return Report.parse(JSON.parse(JSON.stringify(await reportOf(deps, options))));
  };
  const states = async () =>
    (await report()).verdicts.map(({ container, outcome, state }) =>
      `${container} ${outcome} ${state}`
    ).sort();
  deepEqual(await states(), ["db failure gone", "web success well"]);
  deepEqual((await report()).verdicts.find(({ container }) => container === "db")!.log, ["boom"]);
  made.run([{ name: "web", image: made.image, imageId: digestOf("a"), health: "unhealthy" }]);
  deepEqual(await states(), ["db failure gone", "web success unwell"]);
  made.run([{ name: "web", image: made.image, imageId: digestOf("b") }]);
  deepEqual(await states(), ["db failure gone", "web success gone"]);

  await block(made.app);
  made.images[0]!.digests = [made.image.replace(":1", `@${NEW}`)];
  made.run([{ name: "web", image: made.image, imageId: digestOf("a") }]);
  upsertPreviousImage(deps.db, {
    ...{ id: "p1", containerName: "web", imageId: digestOf("c"), reference: made.image, tag: "" },
    ...{ data: null, createdAt: "" },
  });
  deepEqual((await report()).affected, [{ digest: NEW, container: "web", canGoBack: true }]);
});

Deno.test("the platform of an engine is named as images name it", () => {
  equal(enginePlatform({ OSType: "linux", Architecture: "x86_64" }), "linux/amd64");
  equal(enginePlatform({ OSType: "linux", Architecture: "aarch64" }), "linux/arm64");
  equal(enginePlatform({ Architecture: "riscv64" }), "linux/riscv64");
});
