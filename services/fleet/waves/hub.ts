/**
 * Blocks at the hub: made by a failed verdict of a host, lifted by a person, and told to all hosts at
 * once.
 *
 * @module
 */

import { selectFleetHost, type StoredHost } from "../../../db/fleet_hosts.ts";
import {
  deleteFleetVerdict,
  type FleetVerdict,
  replaceFleetVerdict,
  selectUnprovenVerdicts,
  selectVerdictsOfHost,
  selectVerdictsOfImage,
} from "../../../db/fleet_verdicts.ts";
import {
  selectNewFailures,
  selectUpdateVerdicts,
  updateVerdictTaken,
} from "../../../db/updates/verdicts.ts";
import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { requireFound } from "../../errors.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { errorFields } from "../../log.ts";
import type { OpenLink } from "../link/open_link.ts";
import { type Block, type ImageKey, keyOf, readBlock, resealBlock, sealBlock } from "./block.ts";
import { BLOCKS_MAX, type KeptBlock, nextNumber } from "./blocks.ts";
import { repositoryOf } from "./image_hosts.ts";
import { findKept, keepBlock, keptBlocks } from "./kept.ts";
import { Report, type ReportedVerdict } from "./report.ts";
import { readWaveSettings, soakMsOf } from "./settings.ts";
import { applyReport, provenAt } from "./verdicts.ts";

export type WaveDeps =
  & EmitDeps
  & Pick<Deps, "changes" | "fleet" | "log" | "now" | "passing" | "startedAt">;

/** Resource whose changes clients follow. */
export const WAVES_RESOURCE = "/api/fleet/waves";

/** Limit of images that one host can block at a time. */
const BLOCKS_OF_HOST_MAX = 20;

/**
 * Takes the report of a host. It counts when the host has given back the blocks that it keeps: they
 * may say that a person knew its failures.
 *
 * @throws For a report of another shape.
 */
export async function receiveReport(deps: WaveDeps, hostId: string, data: string): Promise<void> {
  const { platform, affected, verdicts } = Report.parse(JSON.parse(data));
  const { reports, hosts } = deps.fleet;
  const isWarned = reports.get(hostId)?.isWarned ?? false;
  reports.set(hostId, { platform, affected, verdicts, holdsUntil: deps.now(), isWarned });
  deps.changes.record(WAVES_RESOURCE);
  if (hosts.get(hostId)?.waves.isSynced) await processReport(deps, hostId);
}

/** Notes that the last report of a host still holds: it has read its containers again. */
export function confirmReport({ fleet, now }: WaveDeps, hostId: string): void {
  const report = fleet.reports.get(hostId);
  if (report) report.holdsUntil = now();
}

/** Stores the verdicts of a host's last report, and blocks what has failed. */
export async function processReport(deps: WaveDeps, hostId: string): Promise<void> {
  const { db, fleet, now } = deps;
  const host = selectFleetHost(db, hostId);
  const report = fleet.reports.get(hostId);
  if (!host || !report?.verdicts) return;
  const known = selectVerdictsOfHost(db, hostId);
  const soakMs = soakMsOf(readWaveSettings(deps));
  const { verdicts, failures } = applyReport(known, report.verdicts, {
    ...{ hostId, at: now(), soakMs },
  });
  // Their logs are long.
  report.verdicts = undefined;
  const isFailure = ({ id }: FleetVerdict) => failures.some((each) => each.id === id);
  db.transaction(() => {
    for (const verdict of known) {
      if (!verdicts.some(({ id }) => id === verdict.id)) deleteFleetVerdict(db, verdict);
    }
    for (const verdict of verdicts) if (!isFailure(verdict)) replaceFleetVerdict(db, verdict);
  });
  await blockFailures(
    deps,
    host,
    failures.map((failure) => ({
      failure,
      verdict: verdicts.find(({ id }) => id === failure.id),
    })),
  );
}

async function blockFailures(
  deps: WaveDeps,
  host: StoredHost,
  failures: readonly { failure: ReportedVerdict; verdict: FleetVerdict | undefined }[],
): Promise<void> {
  if (failures.length === 0) return;
  const { id: hostId, name } = host;
  let room = roomOf(deps, host);
  for (const { failure, verdict } of failures) {
    const reason = hasRun(deps, host, failure)
      ? room > 0
        ? undefined
        : "the host has blocked too many images, or the hub keeps too many blocks"
      : "the host has no such container of that repository";
    if (reason !== undefined) warnOnce(deps, host, failure, reason);
    else if (verdict) {
      const store = () => replaceFleetVerdict(deps.db, verdict);
      if (await blockImage(deps, { ...failure, host: name, hostId }, store)) room--;
    }
  }
}

function warnOnce(
  { fleet, log }: WaveDeps,
  { id, name }: StoredHost,
  { image }: ReportedVerdict,
  reason: string,
): void {
  const report = fleet.reports.get(id);
  if (!report || report.isWarned) return;
  report.isWarned = true;
  log.warn("verdict of a host ignored", { host: name, image, reason });
}

/** Whether the host has a container of that name and repository, by what it says itself. */
function hasRun(
  { fleet }: WaveDeps,
  { id }: StoredHost,
  { container, image }: ReportedVerdict,
): boolean {
  const repository = repositoryOf(image);
  const rows = fleet.copies.get(id)?.lists.containers.values() ?? [];
  return repository !== undefined &&
    [...rows].some((each) => each.name === container && repositoryOf(each.image) === repository);
}

/** Number of images that a host can still block. None is left if an active block of others had to end. */
function roomOf(deps: WaveDeps, { id, name }: StoredHost): number {
  const kept = keptBlocks(deps, "own");
  const isOwn = ({ text }: KeptBlock) => {
    const { hostId, host } = readBlock(text);
    return hostId === undefined ? host === name : hostId === id;
  };
  const own = kept.filter((each) => each.isBlocked && isOwn(each)).length;
  // The oldest ones end for new ones.
  const firstOfOthers = kept.toReversed().findIndex((each) => each.isBlocked && !isOwn(each));
  const evictable = firstOfOthers < 0 ? kept.length : firstOfOthers;
  return Math.min(BLOCKS_OF_HOST_MAX - own, BLOCKS_MAX - kept.length + evictable);
}

/** A failure, with the name of the host that paid for it; `hostId` is empty for this server. */
type PaidFailure = Omit<ReportedVerdict, "outcome" | "state"> & { host: string; hostId: string };

/**
 * Blocks an image, unless it is blocked already or a person knew of this failure.
 *
 * @returns Whether it was blocked by this.
 */
async function blockImage(
  deps: WaveDeps,
  { id, host, hostId, ...failure }: PaidFailure,
  store: () => void,
): Promise<boolean> {
  const { digest, platform, image, container, reason, log } = failure;
  const { kept, isStored } = await changeBlock(deps, failure, (before) => {
    if (before && (before.isBlocked || before.verdicts.includes(id))) return undefined;
    return { isBlocked: true, image, host, hostId, container, reason, log, verdicts: [] };
  }, (keep) => {
    const data = { host, hostId, container, image, digest, platform, reason };
    emit(deps, "update.blocked", data, () => {
      keep();
      store();
    });
  });
  if (!isStored) store();
  else deps.log.warn("image blocked", { host, image, digest: kept!.digest, reason });
  return isStored;
}

/**
 * Allows an image again. Failures that are known now do not block it any more.
 *
 * @throws {AppError} `not_found`.
 */
export async function liftBlock(
  deps: WaveDeps,
  image: ImageKey,
  by: string,
): Promise<Block> {
  const find = () => {
    const found = findKept(deps, "own", image);
    return requireFound(found?.isBlocked ? found : undefined, "Blocked image", image.digest);
  };
  const block = find();
  await changeBlock(deps, image, () => ({
    ...find(),
    isBlocked: false,
    log: [],
    verdicts: failuresOf(deps, image),
  }), (keep) => {
    const { host, image: name, digest, platform } = block;
    emit(deps, "update.block_lifted", { host, image: name, digest, platform, by }, keep);
  });
  return block;
}

/** Ids of the failures of an image that are known here, those of this server first, each newest first. */
const failuresOf = ({ db }: WaveDeps, image: ImageKey): string[] =>
  [
    ...selectUpdateVerdicts(db).filter((each) => keyOf(each) === keyOf(image)),
    ...selectVerdictsOfImage(db, image),
  ].filter(({ outcome }) => outcome === "failure").map(({ id }) => id);

type BlockContent = Omit<Block, keyof ImageKey | "number" | "at">;

/**
 * Signs and stores the next version of a block, and tells it to all hosts.
 *
 * @param change From the present one; `undefined` to leave it.
 * @param store Calls `keep` in the transaction of the event.
 */
async function changeBlock(
  deps: WaveDeps,
  { digest, platform }: ImageKey,
  change: (before: Block | undefined) => BlockContent | undefined,
  store: (keep: () => void) => void,
): Promise<{ kept: KeptBlock | undefined; isStored: boolean }> {
  // Another change may be signed at the same time.
  for (;;) {
    const before = findKept(deps, "own", { digest, platform });
    const content = change(before);
    if (!content) return { kept: undefined, isStored: false };
    const number = nextNumber(keptBlocks(deps, "own"), deps.now());
    const at = deps.now().toISOString();
    const block: Block = { ...content, digest, platform, number, at };
    const text = await sealBlock((bytes) => deps.passing.hub()!.sign(bytes), block);
    if (findKept(deps, "own", { digest, platform })?.number !== before?.number) continue;
    const kept: KeptBlock = { digest, platform, number, isBlocked: block.isBlocked, text };
    store(() => keepBlock(deps, "own", kept));
    await tellAll(deps, text);
    return { kept, isStored: true };
  }
}

/** Tells a block to all hosts but the one that it came from; a host that cannot be told delays no other one. */
export async function tellAll(deps: WaveDeps, text: string, from?: string): Promise<void> {
  const { fleet, changes, log } = deps;
  changes.record(WAVES_RESOURCE);
  for (const [id, { isPending, link }] of [...fleet.hosts]) {
    if (isPending || id === from) continue;
    // The key of a host may not be readable.
    await tellBlock(deps, { id, link }, text).catch((error) =>
      log.error("block not sent to host", { hostId: id, ...errorFields(error) })
    );
  }
}

/** Tells a block to a host, which gives it back to a hub that was restored from an earlier backup. */
export async function tellBlock(
  { passing }: Pick<Deps, "passing">,
  { id, link }: { id: string; link: Pick<OpenLink, "tell"> },
  text: string,
): Promise<void> {
  const hub = passing.hub();
  if (!hub) return;
  const sign = (bytes: Uint8Array<ArrayBuffer>) => hub.sign(bytes, id, "joining");
  link.tell({ type: "block", text: await resealBlock(sign, text) });
}

/** Does what is due: stores proofs of hosts, and blocks what failed on this server, once. */
export async function keepWaves(deps: WaveDeps): Promise<void> {
  const { db, server } = deps;
  const soakMs = soakMsOf(readWaveSettings(deps));
  for (const verdict of selectUnprovenVerdicts(db)) {
    const until = deps.fleet.reports.get(verdict.hostId)?.holdsUntil;
    const at = until ? provenAt(verdict, until, soakMs) : null;
    if (at !== null) replaceFleetVerdict(db, { ...verdict, provenAt: at });
  }
  for (const verdict of selectNewFailures(db)) {
    const { id, containerName: container } = verdict;
    const failure = { ...verdict, container, host: server.name, hostId: "" };
    await blockImage(deps, failure, () => updateVerdictTaken(db, id));
  }
}

/** Name of a caller, for the event of a lift. */
export const nameOfCaller = ({ apiToken, userId }: Caller): string => apiToken?.name ?? userId;
