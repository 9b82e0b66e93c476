import { equal, throws } from "node:assert/strict";
import { closeSection, sectionOf } from "../../../deploy/release/changelog.ts";

const CHANGELOG = `# Changes

## Unreleased

- A new thing.

## 0.1.0 (2026-01-01)

- The first thing.
`;

Deno.test("closeSection() names the version and the day of unreleased changes", () => {
  const closed = closeSection(CHANGELOG, "0.2.0", "2026-02-01");

  equal(sectionOf(closed, "0.2.0"), "- A new thing.");
  equal(sectionOf(closed, "0.1.0"), "- The first thing.");
  equal(closed.split("\n")[2], "## 0.2.0 (2026-02-01)");
});

Deno.test("closeSection() refuses a version that has a section", () => {
  throws(() => closeSection(CHANGELOG, "0.1.0", "2026-02-01"), /already has a section 0\.1\.0/);
});

Deno.test("closeSection() refuses a change log without unreleased changes", () => {
  throws(
    () => closeSection(CHANGELOG.replace("Unreleased", "0.1.1"), "0.2.0", "2026-02-01"),
    /no section "## Unreleased"/,
  );
});

Deno.test("sectionOf() does not mistake one version for the beginning of another", () => {
  equal(sectionOf(CHANGELOG, "0.1"), undefined);
});
