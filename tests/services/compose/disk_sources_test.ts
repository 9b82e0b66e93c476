/** The Compose files of a directory. The files themselves are read in `tests/real_engine`. */

import { deepEqual, rejects } from "node:assert/strict";
import { findPlace, newPlace, refreshPlace } from "../../../services/compose/disk_sources.ts";
import type { HostFiles } from "../../../services/compose/project_files.ts";

const DIRECTORY = "/opt/stacks/shop";

/** Files of the directory by name. */
const filesOf = (texts: Record<string, string>): HostFiles => ({
  read: (path) => Promise.resolve(texts[path.slice(DIRECTORY.length + 1)]),
  modifiedAt: () => Promise.resolve(undefined),
  write: () => Promise.reject(new Error("Nothing is written")),
});

const found = (...names: string[]) => ({
  directory: DIRECTORY,
  configFiles: names.map((name) => name.startsWith("/") ? name : `${DIRECTORY}/${name}`),
  isFound: true,
});

for (
  const [what, texts, names] of [
    ["nothing", {}, ["compose.yaml"]],
    ["the usual files", { "docker-compose.yml": "", "compose.yml": "" }, ["compose.yml"]],
    ["an override file", { "compose.yaml": "", "docker-compose.override.yml": "" }, [
      "compose.yaml",
      "docker-compose.override.yml",
    ]],
    ["COMPOSE_FILE", { ".env": "COMPOSE_FILE=docker-compose.yml:proxy.yml", "compose.yaml": "" }, [
      "docker-compose.yml",
      "proxy.yml",
    ]],
    ["files elsewhere", { ".env": "COMPOSE_FILE=a.yml:./b/c.yml:../base.yml:/srv/d.yml" }, [
      "a.yml",
      "b/c.yml",
      "/opt/stacks/base.yml",
      "/srv/d.yml",
    ]],
    ["another separator", { ".env": "COMPOSE_PATH_SEPARATOR=;\nCOMPOSE_FILE=a.yml;b.yml" }, [
      "a.yml",
      "b.yml",
    ]],
    ["variables and quotes", { ".env": 'EXTRA=b.yml\nexport COMPOSE_FILE="a.yml:${EXTRA}" # x' }, [
      "a.yml",
      "b.yml",
    ]],
    ["an empty variable", { ".env": "COMPOSE_FILE=", "compose.yml": "" }, ["compose.yml"]],
    ["a comment", { ".env": "# COMPOSE_FILE=a.yml", "compose.yml": "" }, ["compose.yml"]],
  ] as const
) {
  Deno.test(`findPlace() finds the Compose files of a directory with ${what}`, async () => {
    deepEqual(await findPlace(filesOf(texts), DIRECTORY), found(...names));
  });
}

Deno.test("findPlace() prefers variables that are not on disk yet", async () => {
  const files = filesOf({ ".env": "COMPOSE_FILE=a.yml" });

  deepEqual(await findPlace(files, DIRECTORY, "COMPOSE_FILE=b.yml"), found("b.yml"));
  deepEqual(await findPlace(files, DIRECTORY, ""), found("compose.yaml"));
});

Deno.test("newPlace() has the files that the variables name, or the usual one", () => {
  deepEqual(newPlace(DIRECTORY, "COMPOSE_FILE=a.yml:b.yml"), found("a.yml", "b.yml"));
  deepEqual(newPlace(DIRECTORY, "A=1"), found("compose.yaml"));
});

Deno.test("findPlace() refuses files that Compose would use from another directory", async () => {
  const place = (env: string) => findPlace(filesOf({ ".env": env }), DIRECTORY);

  await rejects(place("COMPOSE_FILE=deploy/compose.yml"), {
    code: "conflict",
    message: "COMPOSE_FILE in /opt/stacks/shop/.env begins with a file of another directory; use " +
      "the directory of that file",
  });
  await rejects(place(`COMPOSE_FILE=${Array(21).fill("a.yml").join(":")}`), {
    code: "conflict",
    message: "COMPOSE_FILE in /opt/stacks/shop/.env has more than 20 files",
  });
});

Deno.test("refreshPlace() finds other files again, unless they were given at the deploy", async () => {
  const files = filesOf({ ".env": "COMPOSE_FILE=b.yml" });
  const given = { directory: DIRECTORY, configFiles: [`${DIRECTORY}/a.yml`] };

  deepEqual(await refreshPlace(files, found("a.yml")), found("b.yml"));
  deepEqual(await refreshPlace(files, given), given);
});
