/** Logs in the dashboard: live, merged, searched and in color. @module */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { type Dashboard, PHONE, startDashboardBrowser } from "../helpers/dashboard.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { privateEngineTest } from "../helpers/real_engine.ts";
import { eventually, until } from "../helpers/until.ts";

/** Prints what is hard to show, then what it reads from a file. */
const WEB = String.raw`
printf '\033[32mINFO\033[0m listening on \033[1;36m:8080\033[0m\n'
echo '{"level":"error","msg":"payment declined","order":1837}'
echo 'WARN cache is 92 % full'
printf '<img src=x onerror=alert(1)> \342\200\256gnp.exe \033[2J\033]0;evil\007\b\n'
head -c 1048576 /dev/zero | tr '\0' 'x'; echo
touch /tmp/out; trap 'exit 0' TERM
tail -n +1 -f /tmp/out & wait`;

const DB = `for n in $(seq 1 800); do echo "checkpoint $n"; done
trap 'exit 0' TERM; sleep 2147483647 & wait`;

/** Each is one step of a browser's visit; all share one engine, one service and one browser. */
long(privateEngineTest)("the dashboard shows logs", async (engine) => {
  await using _web = await engine.runContainer({ name: "web", command: ["sh", "-c", WEB] });
  await using _db = await engine.runContainer({ name: "db", command: ["sh", "-c", DB] });
  await using service = await startLongshore({ engineSocket: engine.socketPath });
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service);
  const write = (script: string) => engine.docker("exec", "web", "sh", "-c", script);

  await checkText(tab);
  await checkFilters(tab);
  await checkFollowing(tab, write);
  await checkMerged(tab);
  await checkDownload(tab);
  await checkRemoval(tab, () => engine.docker("rm", "--force", "db"));
  deepEqual(tab.complaints, []);

  await tab.open("/logs?container=missing");
  await tab.alert(/missing/);
});

async function checkText(tab: Dashboard): Promise<void> {
  await tab.open("/containers/web/logs?wrap=0");
  await lineCount(tab, "5 lines");
  const lines = await until("they are shown", async () => {
    const lines = await linesOf(tab);
    return lines.length === 5 && lines;
  });
  deepEqual(lines.map(({ container }) => container), Array(5).fill("web"));
  deepEqual(lines.map(({ level }) => level), ["info", "error", "warn", undefined, undefined]);
  equal(lines[0]!.text, "INFO listening on :8080");
  equal(
    lines[3]!.text,
    String.raw`<img src=x onerror=alert(1)> \u202egnp.exe \u001b[2J\u001b]0;evil\u0007\u0008`,
  );
  await eventually(async () => match(await tab.page.title(), /^web · /));
  equal(await tab.page.$(".log img"), null);
  match(lines[4]!.text, /^x{16384}truncated$/);
  const colored = await tab.page.$$eval(".ansi-2, .ansi-6.ansi-bold", (parts) => {
    return parts.map(({ textContent }) => textContent);
  });
  deepEqual(colored, ["INFO", ":8080"]);

  await tab.click("button", "Expand");
  await eventually(async () => match((await linesOf(tab))[1]!.text, /"order": 1837\n/));
  await tab.click("button", "Expand");
  for (const theme of ["light", "dark"] as const) {
    await tab.theme(theme);
    await tab.checkAccessibility();
  }
}

async function checkFilters(tab: Dashboard): Promise<void> {
  await tab.type("searchbox", "Search logs", "DECLINED");
  await lineCount(tab, "1 line");
  await eventually(async () => deepEqual(await marksOf(tab), ["declined"]));
  await eventually(() => match(tab.page.url(), /&q=DECLINED$/));

  await tab.click("checkbox", "Regex");
  await tab.type("searchbox", "Search logs", "(9|8)[0-9]+ ?%?");
  await lineCount(tab, "3 lines");
  await eventually(async () => deepEqual(await marksOf(tab), ["8080", "837", "92 %"]));
  await tab.type("searchbox", "Search logs", "(");
  await tab.invalid("searchbox", "Search logs");

  await tab.type("searchbox", "Search logs", "nothing like this");
  await lineCount(tab, "0 lines");
  await tab.click("button", "Clear filters");
  await lineCount(tab, "5 lines");
  await (await tab.find("combobox", "Level")).select("warn");
  await lineCount(tab, "2 lines");
  await (await tab.find("combobox", "Since")).select("15m");
  await eventually(() => match(tab.page.url(), /level=warn&since=15m$/));
  await lineCount(tab, "2 lines");
  equal(tab.requests.some((request) => request.endsWith("/logs/stream")), true);
}

async function checkFollowing(
  tab: Dashboard,
  write: (script: string) => Promise<string>,
): Promise<void> {
  await tab.open("/containers/web/logs?timestamps=1");
  await lineCount(tab, "5 lines");
  await write("for n in $(seq 1 900); do echo line $n; done > /tmp/out");
  await lineCount(tab, "905 lines");
  ok((await linesOf(tab)).length < 200);
  await until("the newest line is shown", async () => await lastOf(tab) === "line 900");
  await tab.gone("button", "Jump to latest");

  const log = await tab.find("log", "Logs");
  await log.evaluate((element) => element.scrollTop = 600);
  const follow = await tab.find("checkbox", "Follow");
  const isFollowing = () => follow.evaluate((field) => (field as HTMLInputElement).checked);
  await until("it does not follow", async () => !await isFollowing());
  const top = () => log.evaluate((element) => element.scrollTop);
  const before = await top();
  await write("echo one more >> /tmp/out");
  await lineCount(tab, "906 lines");
  equal(await top(), before);
  await tab.click("button", "Jump to latest");
  await until("the newest line is shown", async () => await lastOf(tab) === "one more");
  await until("it follows again", isFollowing);
  await tab.gone("button", "Jump to latest");
  equal(await log.evaluate((element) => element === document.activeElement), true);

  // The browser reports the last movement of the log also after its page was left.
  await tab.go("/");
  await log.evaluate((element) => element.dispatchEvent(new Event("scroll")));
}

async function checkMerged(tab: Dashboard): Promise<void> {
  await tab.open("/logs?wrap=0");
  await tab.find("heading", "Logs");
  const add = (name: string) =>
    until(`${name} is listed`, async () => {
      return (await (await tab.find("combobox", "Add container")).select(name)).includes(name);
    });
  await add("db");
  await lineCount(tab, "800 lines");
  await add("web");
  await lineCount(tab, "1,706 lines");
  await eventually(() => match(tab.page.url(), /\/logs\?wrap=0&container=db&container=web$/));
  await tab.page.$eval("[role=log]", (log) => log.scrollTop = 0);
  const oldest = await until("the oldest lines are shown", async () => {
    const lines = await linesOf(tab);
    return lines[0]?.text.startsWith("INFO listening") && lines.slice(0, 30);
  });
  // The other lines of web were written after those of db.
  equal(oldest.at(-1)!.container, "db");
  await tab.page.setViewport(PHONE);
  await tab.checkAccessibility();
  await tab.fits(PHONE.width);
  await tab.page.setViewport({ width: 1280, height: 900 });
  await tab.click("button", "Remove web");
  await lineCount(tab, "800 lines");
}

async function checkDownload(tab: Dashboard): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "longshore-download-" });
  await tab.downloadTo(folder);
  await tab.click("button", "Download");
  await eventually(async () => {
    const text = await Deno.readTextFile(`${folder}/db.log`);
    equal(text.trimEnd().split("\n").length, 800);
  });
  await Deno.remove(folder, { recursive: true });
}

async function checkRemoval(tab: Dashboard, remove: () => Promise<string>): Promise<void> {
  await tab.open("/containers/db/logs");
  await lineCount(tab, "800 lines");
  await remove();
  await tab.status(/^The container was removed/);
  await tab.gone("button", "Stop");
  await until(
    "the log says it",
    async () =>
      (await tab.page.$eval(".log", (log) => log.textContent)).endsWith(
        "The container was removed",
      ),
  );
  await lineCount(tab, "800 lines");
}

async function lineCount(tab: Dashboard, text: string): Promise<void> {
  await until(text, async () => {
    const status = await tab.find("status", "Line count");
    return await status.evaluate((each) => each.textContent) === text;
  });
}

const linesOf = (tab: Dashboard) =>
  tab.page.$$eval("[data-testid=log-line]", (lines) =>
    lines.map((line) => ({
      text: (line.querySelector(".log-text") ?? line).textContent +
        (line.querySelector(".badge")?.textContent ?? ""),
      level: (line as HTMLElement).dataset.level,
      container: (line as HTMLElement).dataset.container,
    })));

const lastOf = async (tab: Dashboard) => (await linesOf(tab)).at(-1)?.text;

const marksOf = (tab: Dashboard) =>
  tab.page.$$eval("mark", (marks) => marks.map(({ textContent }) => textContent));
