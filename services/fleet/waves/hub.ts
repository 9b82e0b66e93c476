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
  selectFleetVerdicts,
  selectVerdictsOfHost,
  selectVerdictsOfImage,
} from "../../../db/fleet_verdicts.ts";
import { selectUpdateVerdicts } from "../../../db/updates/verdicts.ts";
import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { requireFound } from "../../errors.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { type Block, type ImageKey, readBlock, sealBlock } from "./block.ts";
import { type KeptBlock, nextNumber } from "./blocks.ts";
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
  const report = Report.parse(JSON.parse(data));
  deps.fleet.reports.set(hostId, report);
  deps.changes.record(WAVES_RESOURCE);
  if (deps.fleet.hosts.get(hostId)?.waves.isSynced) await processReport(deps, hostId);
}

/** Stores the verdicts of a host's last report, and blocks what has failed. */
export async function processReport(deps: WaveDeps, hostId: string): Promise<void> {
  const { db, fleet, now, log } = deps;
  const host = selectFleetHost(db, hostId);
  const report = fleet.reports.get(hostId);
  if (!host || !report) return;
  const known = selectVerdictsOfHost(db, hostId);
  const soakMs = soakMsOf(readWaveSettings(deps));
  const { verdicts, failures } = applyReport(known, report, { hostId, at: now(), soakMs });
  const isFailure = ({ id }: FleetVerdict) => failures.some((each) => each.id === id);
  db.transaction(() => {
    for (const verdict of known) {
      if (!verdicts.some(({ id }) => id === verdict.id)) deleteFleetVerdict(db, verdict);
    }
    for (const verdict of verdicts) if (!isFailure(verdict)) replaceFleetVerdict(db, verdict);
  });
  for (const failure of failures) {
    const verdict = verdicts.find(({ id }) => id === failure.id);
    const reason = whyNotBlocked(deps, host, failure);
    if (reason !== undefined) {
      log.warn("verdict of a host ignored", { host: host.name, image: failure.image, reason });
    } else if (verdict) {
      await blockImage(
        deps,
        { ...failure, host: host.name, hostId },
        () => replaceFleetVerdict(db, verdict),
      );
    }
  }
}

/** A host can block only what it has run, and few images at a time. */
function whyNotBlocked(
  deps: WaveDeps,
  { id, name }: StoredHost,
  { container, image }: ReportedVerdict,
): string | undefined {
  const copy = deps.fleet.copies.get(id);
  const repository = repositoryOf(image);
  const hasRun = repository !== undefined &&
    [...copy?.lists.containers.values() ?? []].some((each) =>
      each.name === container && repositoryOf(each.image) === repository
    );
  if (!hasRun) return "the host has no such container of that repository";
  const own = keptBlocks(deps, "own").filter(({ isBlocked, text }) =>
    isBlocked && readBlock(text).host === name
  );
  return own.length >= BLOCKS_OF_HOST_MAX ? "the host has blocked too many images" : undefined;
}

/** A failure, with the name of the host that paid for it; `hostId` is empty for this server. */
type PaidFailure = Omit<ReportedVerdict, "outcome" | "state"> & { host: string; hostId: string };

/** Blocks an image, unless it is blocked already or a person knew of this failure. */
async function blockImage(
  deps: WaveDeps,
  { id, host, hostId, ...failure }: PaidFailure,
  store: () => void,
): Promise<void> {
  const { digest, platform, image, container, reason, log } = failure;
  const { kept, isStored } = await changeBlock(deps, failure, (before) => {
    if (before && (before.isBlocked || before.verdicts.includes(id))) return undefined;
    return { isBlocked: true, image, host, container, reason, log, verdicts: [] };
  }, (keep) => {
    const data = { host, hostId, container, image, digest, platform, reason };
    emit(deps, "update.blocked", data, () => {
      keep();
      store();
    });
  });
  if (!isStored) store();
  else deps.log.warn("image blocked", { host, image, digest: kept!.digest, reason });
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

/** Ids of the failures of an image that are known here, newest first. */
const failuresOf = ({ db }: WaveDeps, image: ImageKey): string[] =>
  [
    ...selectVerdictsOfImage(db, image).filter(({ outcome }) => outcome === "failure"),
    ...selectUpdateVerdicts(db).filter(({ outcome, digest, platform }) =>
      outcome === "failure" && digest === image.digest && platform === image.platform
    ),
  ].map(({ id }) => id);

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
    tellAll(deps, text);
    return { kept, isStored: true };
  }
}

/** Tells a block to all hosts but the one that it came from. */
export function tellAll({ fleet, changes }: WaveDeps, text: string, from?: string): void {
  for (const [id, { isPending, link }] of fleet.hosts) {
    if (!isPending && id !== from) link.tell({ type: "block", text });
  }
  changes.record(WAVES_RESOURCE);
}

/** Does what is due: stores proofs of hosts that are connected, and blocks what failed on this server. */
export async function keepWaves(deps: WaveDeps): Promise<void> {
  const { db, fleet, now, server } = deps;
  const soakMs = soakMsOf(readWaveSettings(deps));
  for (const verdict of selectFleetVerdicts(db)) {
    if (verdict.provenAt !== null || !fleet.hosts.has(verdict.hostId)) continue;
    const at = provenAt(verdict, now(), soakMs);
    if (at !== null) replaceFleetVerdict(db, { ...verdict, provenAt: at });
  }
  for (const verdict of selectUpdateVerdicts(db)) {
    const { outcome, containerName: container } = verdict;
    if (outcome !== "failure") continue;
    await blockImage(deps, { ...verdict, container, host: server.name, hostId: "" }, () => {});
  }
}

/** Name of a caller, for the event of a lift. */
export const nameOfCaller = ({ apiToken, userId }: Caller): string => apiToken?.name ?? userId;
