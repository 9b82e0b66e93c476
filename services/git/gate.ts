/** The gate of automatic updates, asked before a version is deployed automatically. @module */

import { selectUpdateVerdicts } from "../../db/updates/verdicts.ts";
import { findReference, parseReference } from "../../engine/image_reference.ts";
import { type EngineInfo, systemInfo } from "../../engine/system.ts";
import { findImage, imageKey, parsePlatform } from "../compose/plan/platform.ts";
import { openStack } from "../compose/plan/stored.ts";
import { isSwarmStack } from "../compose/swarm/start.ts";
import type { Service } from "../compose/load/resolve.ts";
import type { Container } from "../containers/inventory.ts";
import { listAll } from "../containers/reads.ts";
import type { Deps } from "../deps.ts";
import { headManifest, RegistryError } from "../images/registries/client.ts";
import { type LocalImages, readLocalImages } from "../updates/check/local_images.ts";
import { isFromNoRegistry, isPulled } from "../updates/run/latest.ts";
import { gatePlatform } from "../updates/run/platform.ts";
import { recordVerdict } from "../updates/run/recorded_verdict.ts";
import { digestsOf } from "../updates/run/survey.ts";

/** Longest wait for an answer of a registry, in milliseconds. */
const REGISTRY_MS = 10_000;

/**
 * Why a version must not be deployed automatically now; `undefined` if it may. Images that the stack runs
 * already, and those from no registry, are not asked for.
 *
 * @throws {AppError} As `openStack()`.
 * @throws {EngineUnreachableError}
 */
export async function refusalOf(
  deps: Deps,
  stack: string,
  version: number,
): Promise<string | undefined> {
  if (!deps.updateGate.isNeeded) return undefined;
  const kind = isSwarmStack(deps, stack) ? "swarm" : "compose";
  const { project } = await openStack(deps, stack, version, kind);
  const info = await systemInfo(deps.engine);
  const own = await runningOf(deps, stack);
  const local = await readLocalImages(deps);
  const byImage = Map.groupBy(Object.values(project.services), imageKey);
  for (const users of byImage.values()) {
    const [service] = users as [Service];
    const digest = await newDigest(deps, users, info);
    if (digest === undefined) continue;
    if (digest === null) return `The registry of ${service.image} does not answer`;
    if (own.some((each) => digestsIn(local, each, service.image).includes(digest))) continue;
    const platform = platformOf(service, info);
    const refusal = await deps.updateGate.refusalOf({ digest, platform, image: service.image });
    if (refusal !== undefined) return `${service.image}: ${refusal}`;
  }
  return undefined;
}

/** Notes that the images of a stack work, for the next wave, after an automatic deploy has succeeded. */
export async function recordDeployed(deps: Deps, stack: string): Promise<void> {
  if (!deps.updateGate.isNeeded) return;
  const local = await readLocalImages(deps);
  const platform = platformOf({}, await systemInfo(deps.engine));
  const known = selectUpdateVerdicts(deps.db);
  for (const container of await runningOf(deps, stack)) {
    const { name, image, imageId } = container;
    const digests = digestsIn(local, container, image).filter((digest) =>
      digest !== imageId &&
      !known.some((each) => each.containerName === name && each.digest === digest)
    );
    const input = { name, reference: image, isRebuild: false, previousImageId: null };
    const reason = `${name} works after a deploy of its stack`;
    recordVerdict(deps, { input }, { outcome: "success", digests, platform, imageId, reason });
  }
}

const runningOf = async (deps: Deps, stack: string): Promise<Container[]> =>
  (await listAll(deps)).filter(({ composeProject, state }) =>
    composeProject === stack && state === "running"
  );

/** Digests by which the repository of a reference knows the image of a container. */
function digestsIn(local: LocalImages, { imageId }: Container, image: string): string[] {
  const reference = findReference(image);
  return reference ? local.digestsOf(imageId, reference, true) : [];
}

/** Digest that a deploy gets; `undefined` for an image from no registry, `null` without an answer. */
async function newDigest(
  deps: Deps,
  users: readonly Service[],
  info: EngineInfo,
): Promise<string | null | undefined> {
  const [service] = users as [Service];
  const local = await findImage(deps.engine, service, info);
  const isWanted = users.some(({ pull_policy: policy }) =>
    isPulled(policy === "always" || policy === "never" ? policy : "missing", local !== undefined)
  );
  if (!isWanted) {
    return local && !isFromNoRegistry(local) ? digestsOf(local, service.image).at(-1) : undefined;
  }
  try {
    const options = { timeoutMs: REGISTRY_MS };
    return (await headManifest(deps, parseReference(service.image), options)).digest;
  } catch (error) {
    if (error instanceof RegistryError) return null;
    throw error;
  }
}

const platformOf = (
  { platform }: Pick<Service, "platform">,
  { OSType = "linux", Architecture = "" }: EngineInfo,
): string => gatePlatform(parsePlatform(platform ?? `${OSType}/${Architecture}`));
