import { equal } from "node:assert/strict";
import { hostname } from "node:os";
import {
  isMadeHere,
  isOfThisHost,
  serverTag,
  tagsOf,
} from "../../../../services/backup/trees/tags.ts";

const own = { server: { id: "1", name: "docker-host" } };
const other = { server: { id: "2", name: "docker-host" } };
const TAGS = tagsOf({ stack: "shop", reason: "manual", note: "server=2" });

const CASES: [string, { hostname: string; tags: string[] }, boolean][] = [
  ["of this server", { hostname: "before", tags: [...TAGS, serverTag(own)] }, true],
  ["of another server with the name", {
    hostname: own.server.name,
    tags: [...TAGS, serverTag(other)],
  }, false],
  ["of an earlier version on this host", { hostname: hostname(), tags: TAGS }, true],
  ["of an earlier version on another host", { hostname: "other", tags: TAGS }, false],
  ["of restic on this host", { hostname: hostname(), tags: [serverTag(own)] }, false],
];

for (const [what, snapshot, expected] of CASES) {
  Deno.test(`a snapshot ${what} is ${expected ? "" : "not "}of this host`, () => {
    equal(isOfThisHost(own, snapshot), expected);
    equal(isMadeHere(own, snapshot), expected);
  });
}
