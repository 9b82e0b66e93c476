import { equal, match, ok } from "node:assert/strict";
import { idOf, simulateContainers, type SimulatedContainer } from "../helpers/fake_containers.ts";
import { type FakeAnswer, fakeEngine } from "../helpers/fake_engine.ts";
import { LARGE, withLarge } from "../helpers/large_answers.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { until } from "../helpers/until.ts";

const MIB = 1024 * 1024;
const CONTAINERS = 40;
const LABEL_MIB = 2;

/** Memory of the program at any time, in MiB: 174 without labels; 80 MiB as a whole would take 400 more. */
const PEAK_MAX_MIB = 400;

long(Deno.test)(
  "80 MiB of labels of containers, and of images, hide nothing and are read in little memory",
  async () => {
    const names = Array.from({ length: CONTAINERS }, (_, index) => `large-${index}`);
    const containers: SimulatedContainer[] = [
      { name: "web" },
      ...names.map((name) => ({ name, state: "exited" as const, labels: { text: LARGE } })),
    ];
    const images = names.map((name) => ({
      Id: `sha256:${idOf(name)}`,
      RepoTags: [`${name}:1`],
      Labels: { text: LARGE },
    }));
    const simulated = simulateContainers(containers);
    const answers: Record<string, FakeAnswer> = {
      ...simulated,
      "GET /containers/json": (request) =>
        request.query.has("filters")
          ? Response.json([])
          : simulated["GET /containers/json"]!(request),
      "GET /images/json": () => Response.json(images),
    };
    await using fake = fakeEngine({
      ...withLarge(answers, LABEL_MIB * MIB),
      "GET /events": () => new Response(new ReadableStream()),
    });
    await using service = await startLongshore({ engineSocket: fake.socketPath });

    await until("the containers are listed", async () => {
      const { status, body } = await service.call("GET", "/api/containers");
      return status === 200 && body.containers.length === CONTAINERS + 1;
    });

    const { body } = await service.call("GET", "/api/images");
    equal(body.images.length, CONTAINERS);
    match(body.images[0].warning, /too large/);
    const path = `/api/containers/${idOf("large-0")}`;
    match((await service.call("GET", path)).body.warning, /too large/);
    equal((await service.call("DELETE", path)).status, 200);
    equal(containers.length, CONTAINERS);
    const status = Deno.readTextFileSync(`/proc/${service.pid}/status`);
    const peakMib = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
    ok(peakMib < PEAK_MAX_MIB, `${peakMib} MiB`);
  },
);
