/** Waves and blocked images, as the API returns them. @module */

import { type FleetVerdict, selectFleetVerdicts } from "../../../db/fleet_verdicts.ts";
import { type Caller, mayDo } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { type ImageKey, keyOf, readBlock } from "./block.ts";
import { progressOf, type WaveProgress, type WaveSettings } from "./decide.ts";
import { hostsOfImage, memberHosts } from "./image_hosts.ts";
import { blockOfImage, keptBlocks } from "./kept.ts";
import { readWaveSettings } from "./settings.ts";

type ViewDeps = Pick<Deps, "db" | "fleet" | "now">;

/** Limit of images. */
const IMAGES_MAX = 50;

/** An image on its way. */
export interface WaveImage extends ImageKey {
  /** The reference. */
  image: string;
  /** When the first host had it; ISO 8601, UTC. */
  since: string;
  isBlocked: boolean;
  /** Its progress in each wave, and in the hosts behind the last one. */
  progress: WaveProgress[];
}

export interface WavesView extends WaveSettings {
  /** Newest first. */
  images: WaveImage[];
}

/** The setting, and where each new image is. */
export function viewWaves(deps: ViewDeps): WavesView {
  const settings = readWaveSettings(deps);
  const byImage = Map.groupBy(selectFleetVerdicts(deps.db), keyOf);
  const images = [...byImage.values()].slice(0, IMAGES_MAX).map((verdicts): WaveImage => {
    const { digest, platform, image, seenAt: since } = verdicts.at(-1)!;
    return {
      ...{ digest, platform, image, since },
      isBlocked: blockOfImage(deps, { digest, platform }) !== undefined,
      progress: progressOf(settings, hostsOfImage(deps, { digest, platform, image }, settings)),
    };
  });
  return { ...settings, images };
}

/** A container that runs a blocked image. */
export interface AffectedContainer {
  hostId: string;
  host: string;
  container: string;
  /** Whether the image before its last update is kept. */
  canGoBack: boolean;
}

export interface BlockView extends ImageKey {
  /** Of the digest and the platform. */
  id: string;
  image: string;
  /** Name of the host that it failed on. */
  host: string;
  container: string;
  reason: string;
  /** The last lines of the container; empty for callers who may not read logs. */
  log: string[];
  /** ISO 8601, UTC. */
  at: string;
  /** Containers that run it. */
  affected: AffectedContainer[];
}

/** Images that are blocked, newest first. */
export function listBlocks(deps: ViewDeps, caller: Caller): BlockView[] {
  const verdicts = selectFleetVerdicts(deps.db).filter(({ outcome }) => outcome === "failure");
  return keptBlocks(deps, "own").filter(({ isBlocked }) => isBlocked).map((kept): BlockView => {
    const { digest, platform, image, host, container, reason, log, at } = readBlock(kept.text);
    const mayRead = mayDo(caller, "viewer", "containers:logs");
    return {
      id: idOf({ digest, platform }),
      ...{ digest, platform, image, host, container, reason, at },
      log: mayRead ? fullLog(verdicts, kept) ?? log : [],
      affected: affectedBy(deps, kept),
    };
  });
}

/** The log that the block was made with is cut; this hub may have more of it. */
const fullLog = (verdicts: readonly FleetVerdict[], image: ImageKey): string[] | undefined =>
  verdicts.find((each) => keyOf(each) === keyOf(image))?.log;

function affectedBy(deps: ViewDeps, { digest, platform }: ImageKey): AffectedContainer[] {
  return memberHosts(deps).flatMap(({ id: hostId, name: host }) => {
    const report = deps.fleet.reports.get(hostId);
    if (report?.platform !== platform) return [];
    return report.affected.filter((each) => each.digest === digest)
      .map(({ container, canGoBack }) => ({ hostId, host, container, canGoBack }));
  });
}

/** Identifies a blocked image in paths, e.g. `linux-amd64-sha256:2c26…`. */
export const idOf = ({ digest, platform }: ImageKey): string =>
  `${platform.replace("/", "-")}-${digest}`;

/** @returns `undefined` for text that is not an id. */
export function keyOfId(id: string): ImageKey | undefined {
  const [, os, architecture, digest] =
    /^([a-z0-9]+)-([a-z0-9_]+)-(sha256:[0-9a-f]{64})$/.exec(id) ??
      [];
  return digest === undefined ? undefined : { platform: `${os}/${architecture}`, digest };
}
