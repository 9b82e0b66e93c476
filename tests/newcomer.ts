/**
 * The way of a newcomer: a bare Debian with an engine and thirty stacks that five other programs have
 * deployed, the line that installs Longshore, the setup in a browser, and takeover of all stacks.
 * Prints how long each step takes, and makes the pictures of it in `docs/`.
 *
 *     deno task newcomer
 *
 * The task starts it in namespaces of its own, so that the addresses and `/opt` of the machine are
 * not touched. Needs root, `debootstrap`, `dockerd`, `docker-compose` and Chromium.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { printTable, printVerdict } from "../bench/table.ts";
import { run } from "../deploy/release/programs.ts";
import { startDebian } from "./helpers/bare_debian.ts";
import { startDashboardBrowser } from "./helpers/dashboard.ts";
import { startDockerd } from "./helpers/real_engine.ts";
import { takeoverHost } from "./helpers/takeover_host.ts";
import { fillHost } from "./helpers/takeover_layouts.ts";
import { until } from "./helpers/until.ts";

/** Limit from the line to the page, in seconds. */
const LINE_LIMIT_S = 20;

/** Limit for takeover of all stacks, in seconds. */
const TAKEOVER_LIMIT_S = 60;

/** Turns of the five layouts; two more stacks are there once. */
const TURNS = 6;

/** The default networks of an engine end at thirty. */
const POOL = "--default-address-pool=base=10.201.0.0/16,size=24";

const HOST = "/opt";

/** Names of stacks as people have them, for the pictures. */
const NAMES = [
  ...["adguard", "audiobookshelf", "authelia", "bookstack", "calibre", "changedetection", "dozzle"],
  ...["forgejo", "freshrss", "frigate", "gitea", "grafana", "homeassistant", "homepage", "immich"],
  ...[
    "jellyfin",
    "kavita",
    "linkding",
    "mealie",
    "miniflux",
    "mosquitto",
    "navidrome",
    "nextcloud",
  ],
  ...["ntfy", "paperless", "photoprism", "pihole", "plausible", "radicale", "searxng", "syncthing"],
  ...["traefik", "umami", "vaultwarden", "vikunja", "wallabag", "wekan", "zigbee2mqtt"],
  ...["actual", "adminer", "hedgedoc", "komga", "memos", "stirling"],
];
/** The two programs that have files of stacks. */
const PROGRAMS: Readonly<Record<string, string>> = { manager: "portainer", panel: "dockge" };

const ACCOUNT = { name: "Ada", email: "ada@example.com", password: "a long harbour sentence" };
const VIEW = { width: 1440, height: 900 };

const seconds = new Map<string, number>();
const names = new Map<string, string>();

await run("busybox", ["ip", "link", "set", "lo", "up"]);
await run("mount", ["--make-rprivate", "/"]);
await run("mount", ["-t", "tmpfs", "tmpfs", HOST]);

await using engine = await startDockerd({ args: [POOL] });
await using host = await takeoverHost(engine, { directory: HOST, name: nameOf });
await using filled = await fillHost(engine, host, TURNS);
await using debian = await startDebian(engine.socketPath, HOST);
// As the package of the engine leaves it.
await debian.run("groupadd --system docker && chgrp docker /run/docker.sock");
await using browser = await startDashboardBrowser();
const before = await host.states();
const files = await filled.texts();

const output = await timed("line", () => debian.run(debian.line));
console.log(output);
const address = new URL(/^Set up: open (\S+)$/m.exec(output)![1]!);
const { origin } = address;
const tab = await browser.tab({ baseUrl: origin }, VIEW);
await timed("browser", async () => {
  await tab.open(address.href);
  await tab.fill({ Name: ACCOUNT.name, Email: ACCOUNT.email });
  await tab.page.locator('input[name="account.password"]').fill(ACCOUNT.password);
  await takePicture("setup");
  await tab.click("button", "Create account");
  await tab.find("region", "Get started");
  await tab.loaded();
  await takePicture("overview");
});
await timed("takeover", async () => {
  await tab.click("link", "Take over");
  await tab.find("button", `Take over ${filled.all.length} stacks`);
  await takePicture("found");
  await tab.click("button", `Take over ${filled.all.length} stacks`);
  await tab.find("region", "Report");
});
await takePicture("taken-over");
// The first visit has no session.
await tab.refused(401);
deepEqual(tab.complaints, []);
deepEqual(await host.states(), before, "no container is touched");

const { email, password } = ACCOUNT;
const { accessToken } = await request("POST", "/auth/login", { email, password });
const api = (method: string, path: string, body?: unknown) =>
  request(method, path, body, { authorization: `Bearer ${accessToken}` });
for (const { name } of filled.all) {
  const { changes } = await api("POST", `/api/stacks/${name}/plan`, {});
  deepEqual(changes.filter(({ action }: { action: string }) => action !== "none"), [], name);
}
const edited = filled.first.volume!.name;
await editOne(edited);
const changed = await host.states();
deepEqual(
  Object.keys(changed).filter((each) => changed[each] !== before[each]),
  [`${edited}_web_1`],
);
for (const { name } of filled.all) await api("DELETE", `/api/takeover/${name}`);
deepEqual(await host.states(), changed);
deepEqual(await filled.texts(), files, "all files are as they were");

printTable(
  "The way of a newcomer",
  [...seconds].map(([step, seconds]) => ({ step, seconds })),
);
printVerdict("from the line to the address", seconds.get("line")!, LINE_LIMIT_S, " s");
printVerdict("takeover with its scan", seconds.get("takeover")!, TAKEOVER_LIMIT_S, " s");

/** The next name for each new word. */
function nameOf(word: string): string {
  const known = names.get(word);
  if (known !== undefined) return known;
  const name = PROGRAMS[word] ?? NAMES[names.size] ?? word;
  names.set(word, name);
  return name;
}

async function timed<Result>(step: string, work: () => Promise<Result>): Promise<Result> {
  const start = performance.now();
  const result = await work();
  seconds.set(step, (performance.now() - start) / 1000);
  return result;
}

async function takePicture(name: string): Promise<void> {
  const picture = await tab.page.screenshot();
  await Deno.writeFile(new URL(`../docs/newcomer-${name}.png`, import.meta.url), picture);
}

/** @returns The body of the answer, which has to be a success. */
async function request(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  // deno-lint-ignore no-explicit-any
): Promise<any> {
  const response = await fetch(new URL(path, origin), {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`);
  return JSON.parse(text);
}

async function editOne(stack: string): Promise<void> {
  const path = `/api/stacks/${stack}`;
  const { compose, env, files } = await api("GET", `${path}/source`);
  const changed = compose.replace("$NAME", "edited");
  const source = { compose: changed, env, files, expectedVersion: 1 };
  await api("PUT", `${path}/source`, source);
  const { id } = await api("POST", `${path}/deploy`, { stableSeconds: 1 });
  const job = await until("the deploy has ended", async () => {
    const job = await api("GET", `/api/jobs/${id}`);
    return job.endedAt !== null && job;
  });
  equal(job.status, "succeeded", JSON.stringify(job));
}
