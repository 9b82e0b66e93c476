/**
 * The order in which a screen reader reads ten pages. `reading_order.txt` is to be read by people:
 * it must make sense without the picture. After a change that is meant:
 *
 *     ACCEPT=1 deno test -A --no-check tests/browser/reading_order_test.ts
 *
 * @module
 */

import { equal } from "node:assert/strict";
import type { SerializedAXNode } from "puppeteer-core";
import { type Dashboard, dashboardTest, startDashboardBrowser } from "../helpers/dashboard.ts";
import { composeLabels, simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { until } from "../helpers/until.ts";

const PATHS = [
  "/",
  "/containers",
  "/containers/web",
  "/images",
  "/networks",
  "/volumes",
  "/alerts",
  "/webhooks",
  "/schedules",
  "/account",
];

const FILE = new URL("reading_order.txt", import.meta.url);

const isAccepting = Deno.env.get("ACCEPT") === "1";

long(dashboardTest)("ten pages make sense in the order of a screen reader", async (t) => {
  await using engine = fakeEngine({
    ...simulateContainers([
      { name: "web", labels: composeLabels("shop", "web") },
      { name: "db", labels: composeLabels("shop", "db") },
    ]),
    "GET /events": () => new Response(new ReadableStream()),
    "GET /images/json": () => Response.json([IMAGE]),
    "GET /networks": () => Response.json([NETWORK]),
    "GET /volumes": () => Response.json({ Volumes: [VOLUME] }),
  });
  await using service = await startLongshore({ engineSocket: engine.socketPath });
  const schedule = { containerId: "web", containerName: "web", action: "restart" };
  for (
    const [path, body] of [
      ["/api/schedules", { ...schedule, name: "Nightly", cronExpression: "0 3 * * *" }],
      ["/api/webhooks", {
        name: "On-call",
        url: "https://hooks.example.com/",
        events: ["certificate.expiring"],
      }],
      ["/api/alerts/rules", {
        ...{ name: "Load", metric: "load_1", operator: ">" },
        ...{ threshold: 10_000, durationSeconds: 60 },
      }],
    ] as const
  ) equal((await service.call("POST", path, body)).status, 201, path);
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service);

  const accepted = isAccepting ? undefined : sectionsOf(await Deno.readTextFile(FILE));
  const read: string[] = [];
  for (const path of PATHS) {
    await t.step(path, async () => {
      await tab.go(path);
      await until(
        `${path} is loaded`,
        () => tab.page.evaluate(() => !document.querySelector("[aria-busy=true]")),
      );
      if (!accepted) return void read.push(`# ${path}\n\n${await readSettled(tab)}\n`);
      const expected = accepted.get(path);
      // Live figures arrive after the page; what stays different is reported as a difference.
      await until("it is read as accepted", async () => await readPage(tab) === expected)
        .catch(async () => equal(await readPage(tab), expected));
    });
  }
  if (isAccepting) await Deno.writeTextFile(FILE, read.join("\n"));
});

const sectionsOf = (text: string): Map<string, string> =>
  new Map(
    text.split(/^# /m).slice(1).map((section) => {
      const [path, ...lines] = section.trim().split("\n");
      return [path!, lines.join("\n").trim()];
    }),
  );

/** The same at twenty readings one after the other: live figures arrive after the page. */
async function readSettled(tab: Dashboard): Promise<string> {
  let last = "";
  let same = 0;
  await until("the page does not change", async () => {
    const read = await readPage(tab);
    same = read === last ? same + 1 : 0;
    last = read;
    return same === 20;
  });
  return last;
}

/** The main part of the page, a line for each node, indented by depth. */
async function readPage({ page }: Dashboard): Promise<string> {
  await using main = (await page.$("main"))!;
  const tree = await page.accessibility.snapshot({ root: main, interestingOnly: false });
  return [...linesOf(tree!, 0)].join("\n");
}

/** Roles that are not read: boxes, and what only a browser tells apart. */
const SILENT = [
  ...["generic", "none", "InlineTextBox", "rowgroup", "sectionheader", "strong", "code", "time"],
  ...["Figcaption", "Canvas", "MenuListPopup"],
];

/** @param said The names of what contains the node. Their texts are not repeated. */
function* linesOf(node: SerializedAXNode, depth: number, said = ""): Generator<string> {
  const { role, name = "", children = [] } = node;
  const isSilent = SILENT.includes(role) || role === "StaticText" && said.includes(name.trim());
  if (!isSilent) yield "  ".repeat(depth) + lineOf(node);
  // It depends on how full this machine is.
  if (name === "Needs attention") return;
  // Landmarks and tables are named apart from what they contain.
  const names = CONTAINERS.includes(role) ? said : `${said} ${name}`;
  for (const child of children) yield* linesOf(child, depth + (isSilent ? 0 : 1), names);
}

const CONTAINERS = ["region", "table", "list", "tabpanel", "search", "radiogroup", "row"];

function lineOf({ role, name = "", ...node }: SerializedAXNode): string {
  const { level, checked, pressed, expanded, disabled, selected, valuetext } = node;
  const states = Object.entries({ level, checked, pressed, expanded, disabled, selected })
    .filter(([, value]) => value !== undefined && value !== false)
    .map(([state, value]) => value === true ? state : `${state} ${value}`);
  const texts = [name, valuetext ?? ""].filter((text) => text !== "").map(withoutFigures);
  return [role, ...texts.map((text) => JSON.stringify(text)), ...states].join(" ");
}

/** Without what depends on the machine and the time. */
const withoutFigures = (name: string): string =>
  name.replace(/\d+(?:[.,]\d+)*/g, "#")
    .replace(/\bnow\b(?! *[,;])|(?:\bin )?# (?:s|min|h|d|mo|y)\b(?: ago)?/g, "<time>")
    .replace(/# (?:[KMGT]i)?B\b/g, "# bytes");

const IMAGE = {
  Id: `sha256:${"1".repeat(64)}`,
  RepoTags: ["app:1"],
  RepoDigests: [],
  Created: 1_767_225_600,
  Size: 5_000_000,
  Containers: 2,
};

const NETWORK = {
  ...{ Id: "a".repeat(64), Name: "shop_default", Driver: "bridge", Scope: "local" },
  ...{ Created: "2026-01-01T00:00:00Z", Internal: false, Attachable: false, EnableIPv6: false },
  IPAM: { Config: [{ Subnet: "172.20.0.0/16" }] },
  Labels: {},
  Options: {},
};

const VOLUME = {
  ...{ Name: "shop_data", Driver: "local", Scope: "local", CreatedAt: "2026-01-01T00:00:00Z" },
  Mountpoint: "/var/lib/docker/volumes/shop_data/_data",
  Labels: {},
  Options: {},
};
