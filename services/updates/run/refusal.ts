/**
 * Messages of the engine about a container, without the container's secrets: viewers see jobs and
 * receivers get events, but the engine may repeat the environment that it refuses.
 *
 * @module
 */

import type { ContainerInspect } from "../../../engine/containers.ts";
import { AppError, asAppError } from "../../errors.ts";
import { REDACTED } from "../../text/redact.ts";

type Described = Pick<ContainerInspect, "Config" | "HostConfig">;

/** Shorter values are words that appear in any message. */
const VALUE_MIN = 4;

/** The error with values of variables and driver options replaced; other errors as they are. */
export function withoutValues(error: unknown, container: Described): unknown {
  const known = asAppError(error);
  if (!known) return error;
  const message = valuesOf(container).reduce(
    (text, value) => text.replaceAll(value, REDACTED),
    known.message,
  );
  return message === known.message ? error : new AppError(known.code, message, { cause: error });
}

/** Longest first, because one may contain another. */
function valuesOf({ Config, HostConfig }: Described): string[] {
  const variables = (Config.Env ?? []).map((entry) => entry.slice(entry.indexOf("=") + 1));
  const options = [
    HostConfig.LogConfig?.Config,
    ...(HostConfig.Mounts ?? []).map(({ VolumeOptions }) =>
      (VolumeOptions as VolumeOptions | undefined)?.DriverConfig?.Options
    ),
  ].flatMap((each) => Object.values(each ?? {}));
  return [...variables, ...options].filter(({ length }) => length >= VALUE_MIN)
    .sort((a, b) => b.length - a.length);
}

interface VolumeOptions {
  DriverConfig?: { Options?: Record<string, string> | null };
}
