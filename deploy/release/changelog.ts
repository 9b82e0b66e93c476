/** The change log, as far as a release reads and writes it. @module */

const UNRELEASED = "## Unreleased";

/**
 * Turns the section of unreleased changes into the section of a version.
 *
 * @param date The day of the release, e.g. `2026-01-31`.
 * @throws {Error} When nothing is unreleased, or the version has a section.
 */
export function closeSection(changelog: string, version: string, date: string): string {
  if (sectionOf(changelog, version) !== undefined) {
    throw new Error(`CHANGELOG.md already has a section ${version}`);
  }
  const at = changelog.split("\n").indexOf(UNRELEASED);
  if (at < 0) throw new Error(`CHANGELOG.md has no section "${UNRELEASED}"`);
  return changelog.replace(UNRELEASED, `## ${version} (${date})`);
}

/** The text below a version's heading, or `undefined` where there is no such heading. */
export function sectionOf(changelog: string, version: string): string | undefined {
  const lines = changelog.split("\n");
  const start = lines.findIndex((line) =>
    line === `## ${version}` || line.startsWith(`## ${version} (`)
  );
  if (start < 0) return undefined;
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.startsWith("## "));
  return rest.slice(0, end < 0 ? undefined : end).join("\n").trim();
}
