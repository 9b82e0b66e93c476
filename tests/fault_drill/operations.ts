/** Jobs that a fault hits, each with the files of its volume before and after it. @module */

import { equal } from "node:assert/strict";
import {
  type EndedJob,
  exec,
  NAME,
  runJob,
  startContainer,
  type Version,
  type World,
} from "./world.ts";

export interface Operation {
  name: string;
  /** @returns The request that starts the job. */
  prepare(world: World, target: string): Promise<{ path: string; body: object }>;
  /** Files, and the version that runs, after a failure and after a success. */
  before: State;
  after: State;
  /** End without a fault. */
  end: "rolled_back" | "succeeded";
}

interface State {
  files: string;
  version: Version;
  /** Whether the container stays stopped. */
  isLeft?: boolean;
}

const OLD: State = { files: "file\nversion\n1\nold", version: "old" };
const CHANGED: State = { files: "file\nversion\n1\nchanged", version: "old" };
const NEW: State = { files: "file2\nversion\n2\nold\nnew", version: "good" };

const SNAPSHOTS = "/api/backup/snapshots";

/** Bytes that a restore writes beside the old ones. */
const RESTORED_BYTES = 300_000;

const succeeded = (job: EndedJob): EndedJob => {
  equal(job.status, "succeeded", job.error ?? "");
  return job;
};

/** @returns Id of a snapshot with what the script has written. */
async function snapshotOf(world: World, target: string, script: string): Promise<string> {
  await exec(world, script);
  const body = { volumes: [NAME], mode: "live", target };
  return succeeded(await runJob(world, SNAPSHOTS, body)).result.snapshot;
}

const updateTo = (version: Version): Operation["prepare"] => async (world) => {
  await startContainer(world);
  await world.publish(version);
  const body = { data: "undo", stableSeconds: 1, force: true };
  return { path: `/api/containers/${NAME}/update`, body };
};

/** A restore of what a script has written, over other files. */
const restoreOf = (script: string): Operation["prepare"] => async (world, target) => {
  await startContainer(world);
  const snapshot = await snapshotOf(world, target, script);
  await exec(world, "echo 1 > /data/version; echo changed > /data/file");
  const body = { what: "volume", to: "replace", stableSeconds: 1, target };
  return { path: `${SNAPSHOTS}/${snapshot}/restore`, body };
};

export const OPERATIONS: readonly Operation[] = [
  {
    name: "a backup",
    async prepare(world, target) {
      await startContainer(world);
      return { path: SNAPSHOTS, body: { volumes: [NAME], mode: "stop", target } };
    },
    before: OLD,
    after: OLD,
    end: "succeeded",
  },
  {
    name: "a move",
    async prepare(world, target) {
      await startContainer(world);
      return { path: SNAPSHOTS, body: { stack: NAME, keepStopped: true, target } };
    },
    before: OLD,
    after: { ...OLD, isLeft: true },
    end: "succeeded",
  },
  {
    name: "a restore",
    prepare: restoreOf(
      `head -c ${RESTORED_BYTES} /dev/urandom >> /data/file; echo restored > /data/version`,
    ),
    before: CHANGED,
    after: CHANGED,
    end: "rolled_back",
  },
  {
    name: "a restore that is kept",
    prepare: restoreOf("true"),
    before: CHANGED,
    after: OLD,
    end: "succeeded",
  },
  {
    name: "an update that fails",
    prepare: updateTo("bad"),
    before: OLD,
    after: OLD,
    end: "rolled_back",
  },
  {
    name: "an update",
    prepare: updateTo("good"),
    before: OLD,
    after: NEW,
    end: "succeeded",
  },
  {
    name: "a rollback with data",
    async prepare(world, target) {
      const { path, body } = await updateTo("good")(world, target);
      succeeded(await runJob(world, path, body));
      return {
        path: `/api/containers/${NAME}/rollback`,
        body: { data: true, stableSeconds: 1 },
      };
    },
    before: NEW,
    after: OLD,
    end: "succeeded",
  },
];
