/**
 * The calls of the engine's API: the table of the client has exactly those that the code makes, and
 * `docs/socket-proxy.md` lists for each feature exactly those that it makes.
 *
 * The types of the client admit only calls of the table. Here the other direction is checked, and
 * which feature imports which function of `engine/`.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { CALLS } from "../../engine/calls.ts";

/** The features of `docs/socket-proxy.md`, with the files that make their calls. */
const FEATURES: Record<string, RegExp> = {
  "Required": /^services\/containers\/(engine_events|missed|reads|unreadable|watcher)\.ts$/,
  "Containers in detail":
    /^(commands\/greeting|services\/(containers\/(containers|engine_status|inspect|own_labels|secret_values|self_search|stats)|messages\/crash_log|metrics\/.+))\.ts$/,
  "Logs": /^services\/logs\/(?!services\/)/,
  "Actions on containers":
    /^services\/(containers\/(actions|limits|reconfigure|removal|signals)\.ts$|renames\/)/,
  "Commands and terminals": /^services\/containers\/(exec|terminal)\//,
  "Networks, volumes and disk usage": /^services\/(containers\/networks\.ts$|storage\/)/,
  "Images": /^services\/images\/(?!registries\/)/,
  "Update checks": /^services\/(images\/registries|updates\/check)\//,
  "Updates": /^services\/updates\/(?!(?:check|rehearsal|trial)\/)/,
  "Drills and rehearsals": /^services\/(updates\/(rehearsal|trial)|snapshots\/drills)\//,
  "Stacks from Compose files":
    /^services\/(compose\/(?!swarm\/)|containers\/helper(s|_container)\.ts$)/,
  "Volumes in backups": /^services\/(backup\/volumes|files|snapshots\/(?!drills\/))/,
  "Takeover": /^services\/takeover\//,
  "Swarm": /^services\/(swarm|logs\/services|compose\/swarm)\//,
};

/** Features of the smallest set. */
const WATCH_ONLY = ["Required", "Containers in detail", "Logs"];

const root = new URL("../../", import.meta.url);
const engine = await readModules("engine");
const callers = new Map([...await readModules("services"), ...await readModules("commands")]);
const callsOf = callsByFunction();

Deno.test("each call of the engine client's table is made by a function of engine/", () => {
  const made = new Set([...callsOf.values()].flatMap((calls) => [...calls]));
  deepEqual([...made].sort(), Object.keys(CALLS).sort());
});

Deno.test("each file that calls the engine belongs to one feature", () => {
  for (const [path, text] of callers) {
    if (callsIn(text).size === 0) continue;
    const features = Object.keys(FEATURES).filter((name) => FEATURES[name]!.test(path));
    equal(features.length, 1, `${path} belongs to: ${features.join(", ") || "none"}`);
  }
});

Deno.test("docs/socket-proxy.md lists the calls of each feature", async () => {
  const page = await Deno.readTextFile(new URL("docs/socket-proxy.md", root));
  const sections = page.slice(page.indexOf("## Calls by feature")).split("\n### ").slice(1);
  const listed = Object.fromEntries(sections.map((section) => {
    const [, name, lines] = /^(.+)\n[^]*```text\n([^]*?)\n```/.exec(section) ?? [];
    return [name, lines?.split("\n")];
  }));
  deepEqual(listed, callsByFeature());
  deepEqual(new Set(Object.values(listed).flat()), new Set(Object.keys(CALLS)));
});

Deno.test("the examples of docs/socket-proxy.md open what their sets need", async () => {
  const page = await Deno.readTextFile(new URL("docs/socket-proxy.md", root));
  const watched = WATCH_ONLY.flatMap((name) => callsByFeature()[name]!);
  const examples = [...page.matchAll(/^```yaml\n([^]*?)```/gm)].map(([, text]) => text!);
  const sets = examples.filter((text) => text.includes("docker.sock"));
  equal(sets.length, 6);
  for (const [at, text] of sets.entries()) {
    const needed = at % 2 === 0 ? watched : Object.keys(CALLS);
    const isOpen = text.includes("-allow") ? patternsIn(text) : optionsIn(text);
    const opened = Object.keys(CALLS).filter(isOpen);
    deepEqual(needed.filter((call) => !opened.includes(call)), [], text);
    if (at % 2 === 0) deepEqual(opened.filter((call) => !/^(GET|HEAD) /.test(call)), [], text);
  }
});

/** Calls that environment variables of the proxies by Tecnativa and linuxserver open. */
function optionsIn(text: string): (call: string) => boolean {
  // Both let these through by default.
  const on = new Set(["EVENTS", "PING", "VERSION"]);
  for (const [, name] of text.matchAll(/^ +(\w+): "?1"?$/gm)) on.add(name!);
  return (call) =>
    on.has(CALLS[call as keyof typeof CALLS].option) &&
    (/^(GET|HEAD) /.test(call) || on.has("POST"));
}

/** Calls that regular expressions of the proxy by wollomatic open. */
function patternsIn(text: string): (call: string) => boolean {
  const patterns = new Map(
    [...text.matchAll(/^ +- "?-allow([A-Z]+)=(.+?)"?$/gm)]
      .map(([, method, pattern]) => [method, new RegExp(`^(?:${pattern!})$`)]),
  );
  return (call) => {
    const [method, path] = call.replace("{id}", "a1").replace("{name}", "a/b:1").split(" ");
    return patterns.get(method)?.test(`/v1.41${path}`) ?? false;
  };
}

function callsByFeature(): Record<string, string[]> {
  const order = Object.keys(CALLS);
  return Object.fromEntries(
    Object.entries(FEATURES).map(([name, files]) => {
      const made = new Set(
        [...callers].filter(([path]) => files.test(path))
          .flatMap(([, text]) => [...callsIn(text)]),
      );
      return [name, order.filter((call) => made.has(call))];
    }),
  );
}

/** Calls of the engine's functions that a module imports. */
function callsIn(text: string): Set<string> {
  const imports = text.matchAll(/^import \{([^}]*)\} from "(?:\.\.\/)+engine\/\w+\.ts"/gm);
  const names = [...imports].flatMap(([, list]) => list!.match(/(?<!type )\b[a-z]\w+/g) ?? []);
  return new Set(names.flatMap((name) => [...callsOf.get(name) ?? []]));
}

/** Calls of each exported function of `engine/`, also through other functions there. */
function callsByFunction(): Map<string, Set<string>> {
  const bodies = new Map<string, string>();
  for (const text of engine.values()) {
    for (const part of text.split(/^(?=export (?:async )?function )/m).slice(1)) {
      bodies.set(/function (\w+)/.exec(part)![1]!, part);
    }
  }
  const found = new Map([...bodies].map(([name, body]) => [name, targetsIn(body)]));
  for (const [name, body] of bodies) {
    for (const [other, calls] of found) {
      if (other === name || !new RegExp(`(?<!function )\\b${other}\\(`).test(body)) continue;
      for (const call of calls) found.get(name)!.add(call);
    }
  }
  return found;
}

/** Calls whose paths, and methods if several have one path, are in a function's text. */
function targetsIn(body: string): Set<string> {
  const paths = [...body.matchAll(/`(\/(?:\$\{[^}]*\}|[^`$])+)`|"(\/[a-z_/]+)"/g)]
    .map(([, template, plain]) => template?.replace(/\$\{[^}]*\}/g, "{}") ?? plain);
  const called = Object.keys(CALLS).filter((call) =>
    paths.includes(call.replace(/^\w+ /, "").replace(/\{\w+\}/g, "{}"))
  );
  const methods = called.filter((call) => body.includes(`"${call.split(" ", 1)[0]}"`));
  return new Set(called.length > 1 ? methods : called);
}

async function readModules(folder: string): Promise<Map<string, string>> {
  const modules = new Map<string, string>();
  for await (const { name, isDirectory } of Deno.readDir(new URL(`${folder}/`, root))) {
    const path = `${folder}/${name}`;
    if (isDirectory) { for (const each of await readModules(path)) modules.set(...each); }
    else if (name.endsWith(".ts")) modules.set(path, await Deno.readTextFile(new URL(path, root)));
  }
  return modules;
}
