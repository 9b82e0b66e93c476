/** The hub's answer to a member that asks before an automatic update. @module */

import type { StoredHost } from "../../../db/fleet_hosts.ts";
import type { Deps } from "../../deps.ts";
import { describeBlock, type ImageKey, isImageKey } from "./block.ts";
import { missingWave, waveOf } from "./decide.ts";
import { hostsOfImage, memberHosts } from "./image_hosts.ts";
import { blockOfImage } from "./kept.ts";
import { readWaveSettings } from "./settings.ts";

type AnswerDeps = Pick<Deps, "db" | "fleet" | "now" | "startedAt">;

/**
 * Time after a start in which hosts that have not connected again may know of blocks that this hub does
 * not, because it was restored from a backup; in milliseconds.
 */
const SETTLE_MS = 60_000;

/**
 * Why a host may not install an image automatically now; `null` if it may.
 *
 * @param image.image A reference, whose repository counts.
 */
export function refusalOf(
  deps: AnswerDeps,
  host: StoredHost,
  image: ImageKey & { image: string },
): string | null {
  if (!isImageKey(image)) return "The image has no digest or platform by which hosts know it";
  if (!isSettled(deps)) return "The hub has just started and learns from its hosts what is blocked";
  const block = blockOfImage(deps, image);
  if (block) return describeBlock(block);
  const settings = readWaveSettings(deps);
  if (waveOf(settings, host.labels) === 0) return null;
  const missing = missingWave(settings, host.labels, hostsOfImage(deps, image, settings));
  if (!missing) return null;
  const { wave, proofs, required } = missing;
  return `It waits for the wave ${settings.waves[wave]}: ${proofs} of ${required} hosts have run ` +
    `the image well for ${settings.soakHours} hours`;
}

function isSettled({ db, fleet, now, startedAt }: AnswerDeps): boolean {
  return now().getTime() - startedAt.getTime() >= SETTLE_MS ||
    memberHosts({ db }).every(({ id }) => fleet.hosts.get(id)?.waves.isSynced);
}
