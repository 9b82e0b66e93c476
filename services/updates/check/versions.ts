/** Newer versions of an image among the tags of its repository. @module */

import { type NewerVersion, VERSION_LEVELS } from "../../../db/updates/images.ts";

/** Limit of versions of each level. */
const VERSIONS_PER_LEVEL_MAX = 20;

/** A tag such as `v1.27.3-rc.1-alpine`, in its parts. */
interface Version {
  tag: string;
  /** `v` */
  prefix: string;
  /** `[1, 27, 3]` */
  numbers: number[];
  /** `undefined` for a release. */
  preRelease: { name: string; numbers: number[] } | undefined;
  /** `-alpine` */
  suffix: string;
}

const VERSION = /^(\D{0,32})(\d{1,15}(?:\.\d{1,15}){0,4})(?![.\d])(.*)$/s;

const PRE_RELEASE =
  /^[-._]?(alpha|beta|rc|pre|preview|dev|snapshot|nightly|canary|a|b|m)[-._]?(\d{1,15}(?:\.\d{1,15}){0,3})?(?=$|[-_+])/i;

/** Digits of a number from which on it is a date or a build, not a part of a version. */
const DATE_DIGITS = 6;

/** Collects the tags of newer versions; the newest 20 of each level are kept. */
export interface VersionCollector {
  /** Ignores a tag that is not a newer version, and one that it has already. */
  add(tag: string): void;
  /** Newest first. */
  list(): NewerVersion[];
}

/**
 * Finds tags of newer versions: with the same prefix, suffix and number of components. Pre-releases
 * are included only if the current tag is one.
 *
 * @returns `undefined` if the current tag is not a version, so that none is newer.
 */
export function newerVersions(current: string): VersionCollector | undefined {
  const from = parseVersion(current);
  if (!from) return undefined;
  const newest: Record<NewerVersion["level"], Version[]> = { major: [], minor: [], patch: [] };
  return {
    add(tag) {
      const version = parseVersion(tag);
      if (!version || !isComparable(from, version) || compareVersions(version, from) <= 0) return;
      const known = newest[levelBetween(from, version)];
      if (known.some((each) => each.tag === tag)) return;
      const at = known.findLastIndex((each) => compareVersions(each, version) >= 0) + 1;
      known.splice(at, 0, version);
      if (known.length > VERSIONS_PER_LEVEL_MAX) known.pop();
    },
    list: () =>
      VERSION_LEVELS.flatMap((level) => newest[level])
        .sort((a, b) => compareVersions(b, a))
        .map((version) => ({ tag: version.tag, level: levelBetween(from, version) })),
  };
}

function parseVersion(tag: string): Version | undefined {
  const [, prefix, numbers, rest] = VERSION.exec(tag) ?? [];
  if (prefix === undefined || numbers === undefined || rest === undefined) return undefined;
  const [mark = "", name, preNumbers] = PRE_RELEASE.exec(rest) ?? [];
  return {
    tag,
    prefix,
    numbers: parseNumbers(numbers),
    preRelease: name === undefined
      ? undefined
      : { name: name.toLowerCase(), numbers: preNumbers ? parseNumbers(preNumbers) : [] },
    suffix: rest.slice(mark.length),
  };
}

const parseNumbers = (text: string) => text.split(".").map(Number);

function isComparable(from: Version, to: Version): boolean {
  const isDated = ({ numbers }: Version) => String(numbers[0]).length >= DATE_DIGITS;
  return to.prefix === from.prefix && to.suffix === from.suffix &&
    to.numbers.length === from.numbers.length && isDated(to) === isDated(from) &&
    (to.preRelease === undefined || from.preRelease !== undefined);
}

/** A pre-release precedes its release (https://semver.org/#spec-item-11). */
function compareVersions(a: Version, b: Version): number {
  return compareNumbers(a.numbers, b.numbers) ||
    Number(a.preRelease === undefined) - Number(b.preRelease === undefined) ||
    compareText(a.preRelease?.name ?? "", b.preRelease?.name ?? "") ||
    compareNumbers(a.preRelease?.numbers ?? [], b.preRelease?.numbers ?? []);
}

function compareNumbers(a: readonly number[], b: readonly number[]): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? -1) - (b[at] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}

const compareText = (a: string, b: string) => a === b ? 0 : a < b ? -1 : 1;

function levelBetween(from: Version, to: Version): NewerVersion["level"] {
  const at = from.numbers.findIndex((number, index) => number !== to.numbers[index]);
  if (at === 0) return "major";
  return at === 1 ? "minor" : "patch";
}
