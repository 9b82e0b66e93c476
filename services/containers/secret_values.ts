/**
 * Secret values that messages of the engine may repeat: it names the variables, options and programs
 * that it refuses. Viewers see jobs and receivers get events, so that each message about a container or
 * a stack passes through here.
 *
 * @module
 */

import type { Engine } from "../../engine/client.ts";
import { type ContainerInspect, containerInspect } from "../../engine/containers.ts";
import { EngineUnreachableError, ifThere } from "../../engine/errors.ts";
import { volumeList } from "../../engine/volumes.ts";
import { AppError, asAppError } from "../errors.ts";
import { REDACTED } from "../text/redact.ts";
import { isUnreadable } from "./unreadable.ts";

type Described = Pick<ContainerInspect, "Config" | "HostConfig"> & Partial<ContainerInspect>;

/** Shorter values are words that appear in any message. */
const VALUE_MIN = 4;

/** The options of a volume in Docker's message that it cannot be mounted. */
const MOUNT_DATA = /(, data: )[^]+(?=: )/;

/**
 * Characters that are compared at most, for each value those of the text. An image may have thousands
 * of variables, and its entry point may fill the message.
 */
const COMPARED_MAX = 4_000_000;

const NOT_SEARCHED = "The engine's message is too long to be searched for secret values";

/** Replaces secret values in a text. */
export const hideValues = (text: string, values: readonly string[]): string =>
  valueHider(values)(text);

/** Returns a function that replaces secret values in a text, for many texts. */
export function valueHider(values: readonly string[]): (text: string) => string {
  // Longest first, because one may contain another.
  const longestFirst = [...new Set(values)].filter(({ length }) => length >= VALUE_MIN)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    if (text.length * longestFirst.length > COMPARED_MAX) return NOT_SEARCHED;
    return longestFirst.reduce((hidden, value) => hidden.replaceAll(value, REDACTED), text)
      .replace(MOUNT_DATA, `$1${REDACTED}`);
  };
}

/** The error with secret values in its message replaced; other errors as they are. */
export function withoutValues(error: unknown, values: readonly string[]): unknown {
  const known = error instanceof EngineUnreachableError ? undefined : asAppError(error);
  if (!known) return error;
  const message = hideValues(known.message, values);
  return message === known.message ? error : new AppError(known.code, message, { cause: error });
}

/**
 * The error of a call about a container, without the values of the container and of its volumes.
 *
 * @param container Its id, if it has not been read.
 */
export async function withoutContainerValues(
  engine: Engine,
  container: string | Described,
  error: unknown,
): Promise<unknown> {
  const known = error instanceof EngineUnreachableError ? undefined : asAppError(error);
  if (!known) return error;
  try {
    const values = await readValues(engine, container);
    return values
      ? withoutValues(error, values)
      : new AppError(known.code, HIDDEN, { cause: error });
  } catch (failure) {
    if (!await isUnreadable(engine, failure)) throw failure;
    return new AppError(known.code, HIDDEN, { cause: error });
  }
}

/** Message instead of one that may have values which could not be read. */
const HIDDEN =
  "The engine refuses; its reason may have secret values and is not shown, because the " +
  "container could not be read in full";

/** The values of a container and of its volumes; `undefined` if some of them are unknown. */
async function readValues(
  engine: Engine,
  container: string | Described,
): Promise<string[] | undefined> {
  const found = typeof container === "string"
    ? await ifThere(containerInspect(engine, container))
    : container;
  if (!found) return [];
  const names = volumesOf(found);
  const all = names.size === 0 ? [] : await volumeList(engine);
  const volumes = all.filter(({ Name }) => names.has(Name));
  if ([found, ...volumes].some(({ Truncated }) => Truncated)) return undefined;
  return [...valuesOf(found), ...volumes.flatMap(({ Options }) => optionValues(Options))];
}

/** The engine's error of the last start, without values. */
export function startErrorOf(inspect: ContainerInspect): string {
  const { Error: text } = inspect.State;
  if (!text) return "";
  return inspect.Truncated ? HIDDEN : hideValues(text, valuesOf(inspect));
}

/** The values of variables, and of options of log and volume drivers. */
export function valuesOf({ Config, HostConfig }: Described): string[] {
  return [
    ...(Config.Env ?? []).map((entry) => entry.slice(entry.indexOf("=") + 1)),
    ...Object.values(HostConfig.LogConfig?.Config ?? {}),
    ...(HostConfig.Mounts ?? []).flatMap(({ VolumeOptions }) =>
      optionValues((VolumeOptions as VolumeOptions | undefined)?.DriverConfig?.Options)
    ),
  ];
}

interface VolumeOptions {
  DriverConfig?: { Options?: Record<string, string> | null };
}

/** Options of the engine's own driver that say where the data are. */
const PLACES = new Set(["type", "device"]);

/** Mount options such as `pass=...`, which the engine may change before it repeats them. */
const CREDENTIAL = /cred|key|pass|pw|secret|token|user/i;

/** The secret values among the options of a driver. */
export function optionValues(options: Record<string, string> | null | undefined): string[] {
  return Object.entries(options ?? {}).flatMap(([name, value]) =>
    PLACES.has(name) && !value.includes("@")
      ? []
      : [value, ...value.split(",").flatMap(credentialIn)]
  );
}

function credentialIn(option: string): string[] {
  const at = option.indexOf("=");
  return at > 0 && CREDENTIAL.test(option.slice(0, at)) ? [option.slice(at + 1)] : [];
}

/** The names of the volumes of a container, also of one that is only requested. */
function volumesOf({ HostConfig, Mounts }: Described): Set<string> {
  return new Set([
    ...(Mounts ?? []).flatMap(({ Name }) => Name ?? []),
    ...(HostConfig.Mounts ?? []).flatMap(({ Source }) => Source ?? []),
    ...(HostConfig.Binds ?? []).map((bind) => bind.split(":")[0]!),
  ]);
}
