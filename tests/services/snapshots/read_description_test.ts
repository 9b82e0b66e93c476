/** The description of a stack, as a restore or a drill reads it. @module */

import { deepEqual, rejects } from "node:assert/strict";
import type { Repository } from "../../../services/backup/restic/repository.ts";
import {
  describedFiles,
  DESCRIPTION_FILE,
  type StackDescription,
} from "../../../services/snapshots/description.ts";
import { readDescription } from "../../../services/snapshots/read_description.ts";

const { signal } = new AbortController();

const DESCRIBED: StackDescription = {
  version: 1,
  stack: "shop",
  sources: null,
  generated: "services: {}",
  containers: [{
    id: "1f",
    name: "shop-db-1",
    service: "db",
    image: "postgres:17",
    imageId: `sha256:${"2".repeat(64)}`,
    ran: false,
    digests: [],
    inspect: {
      Config: { Image: "postgres:17", Labels: { owner: "me" }, Tty: true },
      HostConfig: { NetworkMode: "shop_default" },
      Mounts: [{ Type: "bind", Source: "/srv", Destination: "/data", RW: true }],
      NetworkSettings: { Networks: {} },
    } as unknown as StackDescription["containers"][number]["inspect"],
  }],
  volumes: [{ name: "shop_data", driver: "local", labels: {}, options: {} }],
  networks: [{ Name: "shop_default", Driver: "bridge" }],
};

/** A repository of one description. */
const withFile = (content: AsyncIterable<Uint8Array>) =>
  ({ readFile: () => content }) as unknown as Repository;

async function* textOf(description: object) {
  yield new TextEncoder().encode(JSON.stringify(description));
}

const read = (repository: Repository) =>
  readDescription(repository, { id: "3d", stack: "shop" }, signal);

Deno.test("what a backup describes is read as a whole", async () => {
  const files = await Array.fromAsync(describedFiles(DESCRIBED, new Date(0)));
  const { content } = files.find(({ path }) => path === DESCRIPTION_FILE)!;
  deepEqual(await read(withFile(content!)), DESCRIBED);
});

Deno.test("the description of an older version needs neither ids nor networks", async () => {
  const { networks: _, containers: [first], ...rest } = DESCRIBED;
  const { id: _id, ran: _ran, ...older } = first!;
  const found = await read(withFile(textOf({ ...rest, containers: [older] })));
  deepEqual(found, { ...rest, containers: [older], networks: [] });
});

Deno.test("images count by their content, and networks by their known fields only", async () => {
  const exact = `shop/db@sha256:${"3".repeat(64)}`;
  const digests = ["postgres:17", `postgres:17@sha256:${"3".repeat(64)}`, "db@sha256:12", exact];
  const networks = [{ Name: "lan", driver: "host", ConfigFrom: { Network: "x" } }];
  const containers = [{ ...DESCRIBED.containers[0], digests }];
  const found = await read(withFile(textOf({ ...DESCRIBED, containers, networks })));
  deepEqual([found.containers[0]!.digests, found.networks], [[exact], [{ Name: "lan" }]]);
});

for (
  const [what, change] of [
    ["image", { containers: [{ ...DESCRIBED.containers[0], imageId: "postgres:17" }] }],
    ["version", { version: 2 }],
    ["mounts", {
      containers: [{ ...DESCRIBED.containers[0], inspect: { Config: {}, Mounts: "x" } }],
    }],
    ["digests", { containers: [{ ...DESCRIBED.containers[0], digests: [1] }] }],
  ] as const
) {
  Deno.test(`a description with unknown ${what} is refused`, async () => {
    await rejects(
      read(withFile(textOf({ ...DESCRIBED, ...change }))),
      /does not describe stack shop in a known form/,
    );
  });
}
