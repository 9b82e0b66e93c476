/** The report of this host about new images, which its hub follows. @module */

import { selectUpdateVerdicts, type UpdateVerdict } from "../../../db/updates/verdicts.ts";
import { selectPreviousImages } from "../../../db/updates/previous.ts";
import { findReference } from "../../../engine/image_reference.ts";
import type { Container } from "../../containers/inventory.ts";
import type { Deps } from "../../deps.ts";
import { readLocalImages } from "../../updates/check/local_images.ts";
import { keptBlocks } from "./kept.ts";
import { AFFECTED_MAX, type Report, type ReportedVerdict } from "./report.ts";

type ReporterDeps = Pick<Deps, "db" | "engine">;

/**
 * @param platform Of the engine.
 * @param looping Ids of containers in a crash loop.
 * @throws {EngineUnreachableError}
 */
export async function reportOf(
  deps: ReporterDeps,
  { containers, platform, looping }: {
    containers: readonly Container[];
    platform: string;
    looping: ReadonlySet<string>;
  },
): Promise<Report> {
  const byName = new Map(containers.map((container) => [container.name, container]));
  const verdicts = selectUpdateVerdicts(deps.db).map((verdict): ReportedVerdict => {
    const { id, outcome, digest, platform, image, containerName: container, reason, log } = verdict;
    const state = stateOf(verdict, byName.get(container), looping);
    return {
      ...{ id, outcome, digest, platform, log, state },
      image: image.slice(0, 255),
      container: container.slice(0, 255),
      reason: reason.slice(0, 512),
    };
  });
  return { platform, verdicts, affected: await affectedOf(deps, containers, platform) };
}

/** Whether the container still runs the image, and works. */
function stateOf(
  { outcome, imageId }: UpdateVerdict,
  container: Container | undefined,
  looping: ReadonlySet<string>,
): ReportedVerdict["state"] {
  if (outcome === "failure" || container?.imageId !== imageId) return "gone";
  const { id, state, health, exitCode } = container;
  const isUp = state === "running" && health !== "unhealthy" && !looping.has(id);
  const isCompleted = state === "exited" && exitCode === 0;
  return isUp || isCompleted ? "well" : "unwell";
}

/** Containers that run an image which the hub has blocked. Images are read only if there is one. */
async function affectedOf(
  deps: ReporterDeps,
  containers: readonly Container[],
  platform: string,
): Promise<Report["affected"]> {
  const blocked = new Set(
    keptBlocks(deps, "hub").filter((each) => each.isBlocked && each.platform === platform)
      .map(({ digest }) => digest),
  );
  if (blocked.size === 0) return [];
  const local = await readLocalImages(deps);
  const affected = containers.flatMap(({ name, image, imageId }) => {
    const reference = findReference(image);
    const digests = reference ? local.digestsOf(imageId, reference, true) : [imageId];
    const digest = digests.find((each) => blocked.has(each));
    if (digest === undefined) return [];
    const canGoBack = selectPreviousImages(deps.db, name).length > 0;
    return [{ digest, container: name.slice(0, 255), canGoBack }];
  });
  return affected.slice(0, AFFECTED_MAX);
}

/** Names of the Go runtime for what kernels call an architecture. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  x86_64: "amd64",
  aarch64: "arm64",
  armv6l: "arm",
  armv7l: "arm",
  i386: "386",
  i686: "386",
};

/** Platform of an engine, as images name it, e.g. `linux/amd64`. */
export const enginePlatform = (
  { OSType = "linux", Architecture = "" }: { OSType?: string; Architecture?: string },
): string => `${OSType}/${ARCHITECTURES[Architecture] ?? Architecture}`;
