/**
 * Plans an update from what the engine reports: what the new container is created with, what its
 * image replaces, how it will be judged. Without side effects.
 *
 * @module
 */

import type { ContainerConfig, ContainerInspect } from "../../../engine/containers.ts";
import type { ImageInspect } from "../../../engine/images.ts";
import { parseVariable } from "../../containers/record.ts";
import { planRecreation, type Recreation } from "../recreate/recreate.ts";
import { isUp, nameOf } from "../recreate/replace.ts";
import { isSamePlatform, platformOf } from "./platform.ts";

/** Facts of the engine that the requests depend on. */
interface EngineFacts {
  apiVersion?: string | undefined;
  defaultRuntime?: string | undefined;
}

/** A setting that comes from the new image instead of the old one. */
export interface ReplacedSetting {
  setting: string;
  /** Variables, labels or ports; empty for other settings. */
  names: string[];
}

/** Plan for a container. */
interface ContainerPlan {
  recreation: Recreation;
  replaced: ReplacedSetting[];
}

/** Settings with several entries, by name. */
const COLLECTIONS = {
  environment: ({ Env }: ContainerConfig) => byName(Env),
  labels: ({ Labels }: ContainerConfig) => Labels ?? {},
  exposedPorts: ({ ExposedPorts }: ContainerConfig) => ExposedPorts ?? {},
  volumes: ({ Volumes }: ContainerConfig) => Volumes ?? {},
};

const VALUES = {
  entrypoint: ({ Entrypoint }: ContainerConfig) => Entrypoint?.length ? Entrypoint : null,
  command: ({ Cmd }: ContainerConfig) => Cmd?.length ? Cmd : null,
  healthCheck: ({ Healthcheck }: ContainerConfig) => Healthcheck ?? null,
  user: ({ User }: ContainerConfig) => User ?? "",
  workingDirectory: ({ WorkingDir }: ContainerConfig) => WorkingDir ?? "",
  stopSignal: ({ StopSignal }: ContainerConfig) => StopSignal ?? "",
};

/**
 * Plans the new container. What the user set is kept; what came from the old image is left to the
 * new one.
 *
 * @param options.oldImage Without it, everything counts as set by the user.
 */
export function planContainer(
  old: ContainerInspect,
  { oldImage, newImage, reference, successors, ...engine }: EngineFacts & {
    oldImage: ImageInspect | undefined;
    newImage: ImageInspect;
    reference: string;
    successors?: ReadonlyMap<string, string> | undefined;
  },
): ContainerPlan {
  const recreation = planRecreation(old, {
    image: oldImage?.Config,
    reference,
    imageId: newImage.Id,
    successors,
    ...engine,
  });
  return {
    recreation,
    replaced: oldImage?.Config
      ? replacedSettings(recreation.create, oldImage.Config, newImage.Config ?? {})
      : [],
  };
}

/** Settings that the old and the new image differ in, and that the user did not set. */
function replacedSettings(
  own: ContainerConfig,
  before: ContainerConfig,
  after: ContainerConfig,
): ReplacedSetting[] {
  const replaced: ReplacedSetting[] = [];
  for (const [setting, read] of Object.entries(COLLECTIONS)) {
    const [kept, from, to] = [read(own), read(before), read(after)] as Record<string, unknown>[];
    const names = [...new Set([...Object.keys(from!), ...Object.keys(to!)])].filter((name) =>
      !Object.hasOwn(kept!, name) && !isSame(from![name], to![name])
    );
    if (names.length > 0) replaced.push({ setting, names: names.sort() });
  }
  for (const [setting, read] of Object.entries(VALUES)) {
    const isOwn = read(own) !== null && read(own) !== "";
    if (!isOwn && !isSame(read(before), read(after))) replaced.push({ setting, names: [] });
  }
  return replaced;
}

/** @param newImage `undefined` before it is pulled. */
export function warningsOf(
  old: ContainerInspect,
  oldImage: ImageInspect | undefined,
  newImage: ImageInspect | undefined,
): string[] {
  const name = nameOf(old);
  const warnings: string[] = [];
  if (!oldImage) {
    warnings.push(
      `The image of ${name} no longer exists on the engine: all settings of the container are ` +
        "kept, also those that came from the image",
    );
  } else if (newImage && !isSamePlatform(oldImage, newImage)) {
    warnings.push(
      `The new image is for ${platformOf(newImage)}, the current one for ${platformOf(oldImage)}`,
    );
  }
  if (!isUp(old)) warnings.push(`${name} is not running: the new container is not started`);
  if (old.State.Restarting || old.State.Health?.Status === "unhealthy") {
    warnings.push(`${name} does not work already, so that a failure is not rolled back`);
  }
  return warnings;
}

function byName(env: readonly string[] | null | undefined): Record<string, string> {
  return Object.fromEntries((env ?? []).map(parseVariable).map(({ name, value }) => [name, value]));
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
