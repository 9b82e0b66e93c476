import { deepEqual, equal, match, ok } from "node:assert/strict";
import { describeEvent, toView } from "../../../services/events/description.ts";
import { EVENT_KIND_IDS, EVENT_KINDS } from "../../../services/events/kinds/mod.ts";
import { filesWith } from "../../helpers/files_with.ts";

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

Deno.test("kinds name only kinds that exist", () => {
  const named = EVENT_KINDS.flatMap(({ insteadOf = [], reportedAs }) => [
    ...insteadOf,
    ...reportedAs?.({ jobId: "j1" } as never) ?? [],
  ]);
  deepEqual(named, [
    "container.up",
    "container.healthy",
    "update.rolled_back",
    "update.failed",
    "update.needs_attention",
  ]);
  deepEqual(named.filter((id) => !EVENT_KIND_IDS.includes(id as never)), []);
});

Deno.test("events that need attention say where people do something about them", () => {
  const remedyOf = (event: string, data: object) =>
    toView({ event, data, timestamp: "", eventId: "", server: "", serverId: "" } as never).remedy;
  deepEqual(remedyOf("schedule.failed", { container: "web 1" }), {
    text: "Show container",
    to: "/containers/web%201",
  });
  deepEqual(remedyOf("deploy.needs_attention", { stack: "new" }), {
    text: "Show stack",
    to: "/stacks/%6eew",
  });
  deepEqual(remedyOf("certificate.expiring", { domain: "a.example", port: 443 }), {
    text: "Open",
    to: "https://a.example:443/",
  });
  deepEqual(remedyOf("container.down", { container: "web" }), undefined);
});

Deno.test("events about one problem have its key, and say whether they begin or end it", () => {
  const problemOf = (event: string, data: object) =>
    toView({ event, data, timestamp: "", eventId: "", server: "", serverId: "" } as never).problem;
  const host = { host: "edge-7", hostId: "h7" };
  deepEqual(problemOf("host.away", host), { key: "host fleet host h7", phase: "begin" });
  deepEqual(problemOf("host.back", host), { key: "host fleet host h7", phase: "end" });
  deepEqual(problemOf("container.up", { container: "web" }), {
    key: "down container web",
    phase: "end",
  });
  // A start in a crash loop does not end the loop.
  equal(problemOf("container.crash_looping", { container: "web" })!.key, "loop container web");
  deepEqual(problemOf("container.removed", { container: "web" }), {
    key: "down container web",
    phase: "end",
    alsoEnds: ["ill container web", "loop container web"],
  });
  const loopEnd = (outcome: string) => problemOf("container.stable", { container: "web", outcome });
  deepEqual(loopEnd("running"), { key: "loop container web", phase: "end" });
  deepEqual(loopEnd("removed")!.alsoEnds, ["down container web", "ill container web"]);
  const backup = { backup: "shop", place: "offsite", schedule: "night", scheduleId: "s1" };
  const keys = ["backup.failed", "backup.succeeded", "backup.overdue"].map((event) =>
    problemOf(event, backup)!.key
  );
  deepEqual(keys, [
    "backup shop at offsite",
    "backup shop at offsite",
    "backup schedule s1",
  ]);
  const keyOf = (subject: string) => problemOf("backup.failed", { ...backup, subject })!.key;
  deepEqual(["stack shop", "volumes shop"].map(keyOf), [
    "backup stack shop at offsite",
    "backup volumes shop at offsite",
  ]);
  deepEqual(problemOf("host.joined", host), undefined);
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
  const names = EVENT_KIND_IDS.map((id) => `"${id}"`);
  deepEqual(await filesWith(names, "services/events/kinds"), []);
  ok(names.length > 30);
});
