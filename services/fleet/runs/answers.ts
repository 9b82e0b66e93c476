/** Answers of hosts to the requests of a run. A host may be of another version, or send anything. @module */

import * as z from "zod";

const Id = z.string().min(1).max(100);
const Text = z.string().max(10_000);

const Refusal = z.object({ error: Text });
const PrunedKind = z.object({ count: z.int().nonnegative(), error: Text.nullable() });
const Pruned = z.object({
  containers: PrunedKind,
  networks: PrunedKind,
  volumes: PrunedKind,
  images: PrunedKind,
  buildCache: PrunedKind,
  totalReclaimed: z.number().nonnegative(),
});
const Started = z.object({ id: Id });
const Stored = z.object({ version: z.int() });
const Versions = z.object({ versions: z.array(Stored) });
const State = z.object({
  status: Text,
  error: Text.nullable(),
  endedAt: Text.nullable(),
});
const Jobs = z.object({
  jobs: z.array(z.object({
    id: Id,
    target: Text,
    createdBy: Text.nullable(),
    createdAt: Text,
  })),
});

/** A job at a host, as its list has it. */
export type HostJob = z.output<typeof Jobs>["jobs"][number];

/** The state of a job at a host. */
export type HostJobState = z.output<typeof State>;

/** The report of a prune at a host. */
export type HostPrune = z.output<typeof Pruned>;

/** Each returns `undefined` for another answer. */
export const reasonIn = (body: unknown): string | undefined => Refusal.safeParse(body).data?.error;
export const prunedIn = (body: unknown): HostPrune | undefined => Pruned.safeParse(body).data;
export const jobIdIn = (body: unknown): string | undefined => Started.safeParse(body).data?.id;
export const versionIn = (body: unknown): number | undefined =>
  Stored.safeParse(body).data?.version;
export const latestVersionIn = (body: unknown): number | undefined =>
  Versions.safeParse(body).data?.versions[0]?.version;
export const jobStateIn = (body: unknown): HostJobState | undefined => State.safeParse(body).data;
export const jobsIn = (body: unknown): HostJob[] | undefined => Jobs.safeParse(body).data?.jobs;
