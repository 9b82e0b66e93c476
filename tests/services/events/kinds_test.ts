import { deepEqual, match, ok } from "node:assert/strict";
import { describeEvent } from "../../../services/events/description.ts";
import { EVENT_KIND_IDS, EVENT_KINDS } from "../../../services/events/kinds/mod.ts";

Deno.test("every kind has its own id, and its own words within its group", () => {
  const names = EVENT_KINDS.map(({ group, words }) => `${group}: ${words}`);
  deepEqual(names.filter((name, at) => names.indexOf(name) < at), []);
  deepEqual(EVENT_KIND_IDS.filter((id, at) => EVENT_KIND_IDS.indexOf(id) < at), []);
});

Deno.test("the kinds of a group follow each other, so that each group is offered once", () => {
  const groups = EVENT_KINDS.map(({ group }) => group)
    .filter((group, at, all) => group !== all[at - 1]);
  deepEqual(groups, [...new Set(groups)]);
});

Deno.test("descriptions are sentences without a full stop", () => {
  for (const { description } of EVENT_KINDS) match(description, /^[A-Z0-9][^\n]+[^.]$/);
});

Deno.test("a kind of a later version, and one without its data, is described by its fields", () => {
  deepEqual(describeEvent({ event: "volume.full", data: { title: "data", percent: 91 } }), {
    tone: "news",
    headline: "volume.full: data",
    lines: ["percent: 91"],
  });
  deepEqual(describeEvent({ event: "container.down", data: { image: "web:1" } }), {
    tone: "news",
    headline: "container.down",
    lines: ["image: web:1"],
  });
});

Deno.test("no other file lists the kinds, so that a new one is added in one place", async () => {
  const root = new URL("../../../", import.meta.url);
  const lists: string[] = [];
  const visit = async (path: string) => {
    for await (const { name, isDirectory } of Deno.readDir(new URL(path, root))) {
      const own = `${path}/${name}`;
      // Generated from the API document, which the kinds are in.
      if (own === "services/events/kinds" || own === "ui/api") continue;
      if (isDirectory) await visit(own);
      else if (/\.tsx?$/.test(name)) {
        const text = await Deno.readTextFile(new URL(own, root));
        const named = EVENT_KIND_IDS.filter((id) => text.includes(`"${id}"`));
        if (named.length > EVENT_KIND_IDS.length / 4) lists.push(`${own}: ${named}`);
      }
    }
  };
  for (const folder of ["commands", "db", "routes", "services", "ui"]) await visit(folder);
  deepEqual(lists, []);
  ok(EVENT_KIND_IDS.length > 30);
});
