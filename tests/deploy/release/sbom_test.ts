import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { billOfMaterials, type LockFile, type Release } from "../../../deploy/release/sbom.ts";
import { sbom } from "../../../deploy/release/release.ts";

const SHA512 = `sha512-${btoa("\0".repeat(64))}`;

const LOCK: LockFile = {
  specifiers: { "npm:a@1.0.0": "1.0.0_b@2.0.0", "npm:test-only@3.0.0": "3.0.0" },
  npm: {
    "a@1.0.0_b@2.0.0": { integrity: SHA512, dependencies: ["b", "@s/c@1.1.0"] },
    "b@2.0.0": { integrity: SHA512 },
    "@s/c@1.1.0": { integrity: SHA512 },
    "@s/c@2.2.0": { integrity: SHA512 },
    "test-only@3.0.0": { integrity: SHA512 },
  },
};

const RELEASE: Release = {
  name: "longshore",
  version: "1.2.3",
  license: "MIT",
  timestamp: "2026-01-31T12:00:00.000Z",
  denoVersion: "2.9.6",
};

Deno.test("billOfMaterials() lists what product code imports, with all dependencies", () => {
  const { components, dependencies } = billOfMaterials(LOCK, ["npm:a@1.0.0"], RELEASE);

  deepEqual(components.map(({ purl }) => purl), [
    "pkg:generic/deno@2.9.6",
    "pkg:npm/%40s/c@1.1.0",
    "pkg:npm/a@1.0.0",
    "pkg:npm/b@2.0.0",
  ]);
  deepEqual(dependencies.find(({ ref }) => ref === "pkg:npm/a@1.0.0")?.dependsOn, [
    "pkg:npm/%40s/c@1.1.0",
    "pkg:npm/b@2.0.0",
  ]);
});

Deno.test("billOfMaterials() gives hashes in hexadecimal", () => {
  const { components } = billOfMaterials(LOCK, ["npm:a@1.0.0"], RELEASE);

  const [, library] = components;
  deepEqual(library && "hashes" in library && library.hashes, [
    { alg: "SHA-512", content: "00".repeat(64) },
  ]);
});

Deno.test("billOfMaterials() refuses a package that the lock file lacks", () => {
  throws(() => billOfMaterials(LOCK, ["npm:z@1.0.0"], RELEASE), /no entry for npm:z@1.0.0/);
});

Deno.test("the bill of this checkout has the packages of service and dashboard, none of tests", async () => {
  const { bomFormat, components, dependencies } = JSON.parse(await sbom());

  const names = components.map(({ name }: { name: string }) => name);
  equal(bomFormat, "CycloneDX");
  for (const name of ["hono", "preact", "uplot"]) ok(names.includes(name), name);
  ok(!names.includes("smtp-server"));
  const refs = new Set(components.map((each: Record<string, string>) => each["bom-ref"]));
  for (const { dependsOn } of dependencies) {
    for (const ref of dependsOn) ok(refs.has(ref), `${ref} is not a component`);
  }
});
