/**
 * The update policy in the labels of a container. Those that its image has count only where they are
 * stricter than the settings: who publishes an image must not decide when it is installed. Labels of Watchtower, What's Up Docker (WUD) and
 * Diun are honoured, so that containers need no change when an operator switches to this service.
 *
 * @see https://containrrr.dev/watchtower/container-selection/
 * @see https://getwud.github.io/wud/#/configuration/watchers/?id=labels
 * @see https://crazymax.dev/diun/providers/docker/#docker-labels
 * @module
 */

import type { ImageInspect } from "../../engine/images.ts";
import { AppError } from "../errors.ts";
import { parseDuration } from "./duration.ts";
import { parseWindow, type UpdateWindow } from "./window.ts";

/**
 * `off`: the image is not checked. `notify`: an update is reported. `auto`: it is also applied, in a
 * maintenance window.
 */
export const UPDATE_POLICIES = ["off", "notify", "auto"] as const;
export type UpdatePolicy = (typeof UPDATE_POLICIES)[number];

/** Distances that an automatic update may go from the current tag; `same` keeps the tag. */
const UPDATE_LEVELS = ["same", "patch", "minor", "major"] as const;
type UpdateLevel = (typeof UPDATE_LEVELS)[number];

/**
 * Data of an update that fails. `keep`: volumes stay as the new version leaves them. `undo`: they get
 * the data from before the update back.
 */
export const DATA_CHOICES = ["keep", "undo"] as const;
export type DataChoice = (typeof DATA_CHOICES)[number];

/** Update policy in the labels of a container. */
export interface LabelPolicy {
  /** `undefined`: that of the settings. */
  policy?: UpdatePolicy;
  level: UpdateLevel;
  /** Regular expressions for the tags of newer versions, not checked yet; see `tag_filter.ts`. */
  tags?: TagPatterns;
  /** Replaces the minimum age of the settings. */
  minAgeHours?: number;
  /** Replaces the windows of the settings. */
  window?: UpdateWindow;
  /** Requirements of the image besides the settings. */
  image?: { minAgeHours?: number; window?: UpdateWindow };
  /** Replaces the deadline of the verification after an update. */
  verifyTimeoutSeconds?: number;
  /** Replaces that of the settings. */
  data?: DataChoice;
  /** Replaces that of the settings. */
  rehearse?: boolean;
  /** Names of containers that are updated before this one. */
  dependsOn: string[];
  /**
   * Labels with an invalid value, which is ignored. A container that has one is not updated
   * automatically.
   */
  problems: string[];
}

export interface TagPatterns {
  include?: TagPattern;
  exclude?: TagPattern;
}

export interface TagPattern {
  /** The name of the label. */
  label: string;
  pattern: string;
}

export type Labels = Readonly<Record<string, string>>;

const WATCHTOWER = "com.centurylinklabs.watchtower";

/** The label of this service itself. */
export const OWN_LABEL = "longshore.update";

/** Labels that can turn on automatic updates. */
export const AUTO_LABELS = [OWN_LABEL, `${WATCHTOWER}.enable`] as const;

export const WINDOW_LABEL = "longshore.update.window";

export const REHEARSE_LABEL = "longshore.update.rehearse";

const MIN_AGE_HOURS_MAX = 365 * 24;

/** Limits of `longshore.update.verify-timeout`, in seconds. */
const VERIFY_TIMEOUT = { min: 10, max: 24 * 60 * 60 } as const;

/** Limit of names in `depends-on`. */
const DEPENDS_ON_MAX = 100;

/**
 * Reads the labels of a container. An invalid value is reported and otherwise treated as missing.
 *
 * @param imageLabels Those of its image: a label with the same value comes from there. `undefined` if
 * they are unknown; then all labels count as the image's.
 */
export function updatePolicy(labels: Labels, imageLabels: Labels | undefined): LabelPolicy {
  const [own, given] = [true, false].map((wanted) =>
    readPolicy(Object.fromEntries(
      Object.entries(labels).filter(([name, value]) =>
        (imageLabels !== undefined && imageLabels[name] !== value) === wanted
      ),
    ))
  );
  return restricted(own!, given!);
}

/** Labels of an image for {@linkcode updatePolicy}. @param image `undefined` if the engine no longer has it. */
export const labelsOfImage = (
  image: Pick<ImageInspect, "Config"> | undefined,
): Labels | undefined => image && (image.Config?.Labels ?? {});

/** The policy of a user, with what an image may add to it. */
function restricted(own: LabelPolicy, given: LabelPolicy): LabelPolicy {
  const policy = own.policy ?? (given.policy === "auto" ? undefined : given.policy);
  const data = own.data ?? (given.data === "undo" ? given.data : undefined);
  const rehearse = own.rehearse ?? (given.rehearse || undefined);
  const tags = { ...(own.level !== "same" && given.tags), ...own.tags };
  const image = {
    ...(given.minAgeHours !== undefined && { minAgeHours: given.minAgeHours }),
    ...(given.window && { window: given.window }),
  };
  return {
    ...own,
    ...(policy && { policy }),
    ...(data && { data }),
    ...(rehearse !== undefined && { rehearse }),
    ...(Object.keys(tags).length > 0 && { tags }),
    ...(Object.keys(image).length > 0 && { image }),
    problems: [...own.problems, ...given.problems],
  };
}

function readPolicy(labels: Labels): LabelPolicy {
  const problems: string[] = [];
  const read = <Value>(name: string, parse: (text: string, field: string) => Value) => {
    const text = labels[name]?.trim();
    if (!text) return undefined;
    try {
      return parse(text, `Label ${name}`);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      problems.push(error.message);
      return undefined;
    }
  };
  const readBoolean = (name: string) => read(name, boolean);

  const own = read(OWN_LABEL, oneOf(UPDATE_POLICIES));
  const level = read("longshore.update.level", oneOf(UPDATE_LEVELS));
  const others = [
    watchtowerPolicy(readBoolean),
    notifyPolicy(readBoolean("wud.watch")),
    notifyPolicy(readBoolean("diun.enable")),
  ];
  const policy = own ?? mostActive(others);
  const tags = tagPatterns(labels);
  const minAgeHours = read(
    "longshore.update.min-age",
    (text, field) => parseDuration(text, { field, unit: "h", min: 0, max: MIN_AGE_HOURS_MAX }),
  );
  const window = read(WINDOW_LABEL, parseWindow);
  const verifyTimeoutSeconds = read(
    "longshore.update.verify-timeout",
    (text, field) => parseDuration(text, { field, unit: "s", ...VERIFY_TIMEOUT }),
  );
  const data = read("longshore.update.data", oneOf(DATA_CHOICES));
  const rehearse = readBoolean(REHEARSE_LABEL);
  const isUnsure = problems.length > 0 && policy !== "off";
  return {
    ...(isUnsure ? { policy: "notify" } : policy && { policy }),
    level: level ?? "same",
    ...(tags && { tags }),
    ...(minAgeHours !== undefined && { minAgeHours }),
    ...(window && { window }),
    ...(verifyTimeoutSeconds !== undefined && { verifyTimeoutSeconds }),
    ...(data && { data }),
    ...(rehearse !== undefined && { rehearse }),
    dependsOn: names(labels[`${WATCHTOWER}.depends-on`]),
    problems,
  };
}

/** Whether newer versions of the image are of interest, not only changes of its tag. */
export const hasVersionPolicy = ({ level, tags }: LabelPolicy): boolean =>
  level !== "same" || tags?.include !== undefined;

/** Watchtower updates each container that it does not only monitor. */
function watchtowerPolicy(
  readBoolean: (name: string) => boolean | undefined,
): UpdatePolicy | undefined {
  const isEnabled = readBoolean(`${WATCHTOWER}.enable`);
  const isMonitored = readBoolean(`${WATCHTOWER}.monitor-only`);
  if (isEnabled === false) return "off";
  if (isMonitored) return "notify";
  return isEnabled ? "auto" : undefined;
}

/** Programs that report updates and do not apply them. */
function notifyPolicy(isEnabled: boolean | undefined): UpdatePolicy | undefined {
  if (isEnabled === undefined) return undefined;
  return isEnabled ? "notify" : "off";
}

/**
 * Watchtower is often told to leave alone what Diun reports, so that the program that does most for a
 * container decides.
 */
function mostActive(policies: readonly (UpdatePolicy | undefined)[]): UpdatePolicy | undefined {
  return UPDATE_POLICIES.toReversed().find((policy) => policies.includes(policy));
}

function tagPatterns(labels: Labels): TagPatterns | undefined {
  const pattern = (...candidates: string[]): TagPattern | undefined => {
    const label = candidates.find((name) => labels[name]?.trim());
    return label === undefined ? undefined : { label, pattern: labels[label]!.trim() };
  };
  const include = pattern("longshore.update.tags", "wud.tag.include");
  const exclude = pattern("wud.tag.exclude");
  if (!include && !exclude) return undefined;
  return { ...(include && { include }), ...(exclude && { exclude }) };
}

/** The engine stores names with a slash, and so does Watchtower accept them. */
function names(text = ""): string[] {
  return text.split(",").map((name) => name.trim().replace(/^\//, "")).filter((name) => name !== "")
    .slice(0, DEPENDS_ON_MAX);
}

function oneOf<const Values extends readonly string[]>(values: Values) {
  return (text: string, field: string): Values[number] => {
    const found = values.find((value) => value === text.toLowerCase());
    if (found !== undefined) return found;
    const given = text.slice(0, 50);
    throw new AppError("invalid", `${field}: must be ${values.join(", ")}; got "${given}"`);
  };
}

/** As Go's `strconv.ParseBool`, which Watchtower and Diun use. */
function boolean(text: string, field: string): boolean {
  if (/^(1|t|true)$/i.test(text)) return true;
  if (/^(0|f|false)$/i.test(text)) return false;
  throw new AppError("invalid", `${field}: must be true or false; got "${text.slice(0, 50)}"`);
}
