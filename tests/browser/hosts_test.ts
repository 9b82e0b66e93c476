/** The page Hosts, with a host that joins as a real program. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { runCommand, temporaryDirectory } from "../helpers/command.ts";
import { dashboardTest } from "../helpers/dashboard.ts";
import { checkBothThemes, hasColumns, rowMatches } from "../helpers/dashboard_steps.ts";
import { joinFleet } from "../helpers/joined_host.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { openDashboard } from "../helpers/open_dashboard.ts";
import { until } from "../helpers/until.ts";

const INSECURE = { FLEET_INSECURE: "on", SERVER_NAME: "edge-7" };

long(dashboardTest)("a host is invited, accepted, renamed and removed", async () => {
  using folder = temporaryDirectory();
  await using open = await openDashboard({
    containers: [],
    env: { ...INSECURE, SERVER_NAME: "hub" },
    path: "/hosts",
  });
  const { tab } = open;
  await tab.click("button", "New host");
  await tab.fill({ Labels: "site kiel" });
  await tab.pressRefused("Create invite", /labels/);
  await tab.fill({ Labels: "site=kiel, floor=2" });
  await checkBothThemes(tab);
  await tab.click("button", "Create invite");
  const field = await tab.find("textbox", "Line for the new host");
  const line = await field.evaluate((input) => (input as HTMLInputElement).value);
  const [, token] = /^longshore join (\S+)$/.exec(line)!;
  const bare = await tab.find("textbox", "Or, where Longshore is not installed yet");
  match(
    await bare.evaluate((input) => (input as HTMLInputElement).value),
    new RegExp(`RELEASE/install.sh .* --set FLEET_INSECURE=on --join ${token}$`),
  );
  await checkBothThemes(tab);
  await tab.click("button", "Done");
  await rowMatches(tab, "Any host", /0 of 1.*By an admin/);

  await using engine = fakeEngine(simulateContainers([{
    name: "shop-web-1",
    labels: { "com.docker.compose.project": "shop", "com.docker.compose.service": "web" },
  }]));
  await using member = await startLongshore({
    dataDir: folder.path,
    engineSocket: engine.socketPath,
    env: { ...INSECURE },
  });
  const env = { DATA_DIR: folder.path, ...INSECURE };
  const joined = await runCommand(["join", token!, "--yes"], { env });
  equal(joined.code, 0, joined.stderr);
  const [, fingerprint] = /Fingerprint of this host: (\S+)/.exec(joined.stderr)!;

  await rowMatches(tab, "edge-7", /Pending[^]*floor=2/);
  await tab.gone("heading", "Invited");
  await hasColumns(tab, [
    "Name",
    "State",
    "Attention",
    "Labels",
    "Address",
    "Version",
    "Last seen",
  ]);
  await tab.open("/");
  await tab.find("listitem", /edge-7 at .* waits until an admin accepts it/);
  await tab.click("link", "Show hosts");
  await tab.choose("edge-7", "Accept");
  const question = await tab.find("alertdialog", "Accept edge-7?");
  match(await question.evaluate((dialog) => dialog.textContent ?? ""), new RegExp(fingerprint!));
  await tab.press("Accept", "Accepted edge-7");
  await rowMatches(tab, "edge-7", /Connected/);
  // Over the real link: the host has no alerts.
  await until("the sums of all hosts", async () => {
    const text = await tab.page.evaluate(() => document.body.textContent ?? "");
    return text.includes("1 stack") && text.includes("0 firing alerts");
  });

  await tab.click("button", "Run on hosts");
  await tab.find("textbox", "Hosts");
  await tab.gone("textbox", "Stack");
  await tab.select("select[name=action]", "update");
  await tab.fill({ Stack: "shop", Hosts: "edge-7" });
  await tab.click("button", "Show plan");
  const plan = await tab.find("dialog", "Run on hosts");
  await until("the plan is shown", async () => {
    const text = await plan.evaluate((dialog) => dialog.textContent ?? "");
    return text.includes("1 host will update the stack: edge-7.");
  });
  await tab.click("button", "Cancel");
  await tab.gone("dialog");

  await tab.choose("edge-7", "Edit");
  await tab.fill({ Name: "edge-8" });
  await tab.press("Save", "Saved edge-8");
  await member.kill9();
  await rowMatches(tab, "edge-8", /Away/);
  await tab.choose("edge-8", "When it is back");
  await checkBothThemes(tab);
  await tab.press("Leave it", "edge-8 does it when it is back");
  await rowMatches(tab, "Update stack shop", /Pending/);
  await checkBothThemes(tab);
  await tab.choose("edge-8", "Remove");
  await tab.press("Remove", /edge-8/);
  await tab.find("button", "New host");
});

long(dashboardTest)("a host that waits is added, and an open invite is deleted", async () => {
  await using engine = fakeEngine(simulateContainers([{ name: "web" }]));
  await using member = await startLongshore({
    engineSocket: engine.socketPath,
    env: { ...INSECURE, FLEET_ALLOW: "read" },
  });
  const env = { DATA_DIR: member.dataDir, ...INSECURE };
  const listens = ["join", "--listen", "--address", member.baseUrl];
  const { stdout: line } = await runCommand(listens, { env });

  await using open = await openDashboard({
    containers: [],
    env: { ...INSECURE, SERVER_NAME: "hub", OUTBOUND_ALLOW: "127.0.0.1" },
    path: "/hosts",
  });
  const { tab } = open;
  await tab.click("button", "New host");
  await tab.fill({ Name: "HUB" });
  await tab.pressRefused("Create invite", /This server has the name hub/, 409);
  await tab.fill({ Name: "edge-8" });
  await tab.click("button", "Create invite");
  await tab.click("button", "Done");
  await tab.choose("edge-8", "Delete");
  await tab.press("Delete", /edge-8/);
  await tab.gone("heading", "Invited");

  await tab.click("button", "New host");
  await tab.select("select[name=dials]", "server");
  await checkBothThemes(tab);
  await tab.fill({ Token: "lsadd_?" });
  await tab.pressRefused("Add host", /damaged/);
  await tab.fill({ Token: line.trim() });
  await tab.press("Add host", "Added edge-7");
  await rowMatches(tab, "edge-7", /Connected/);
  await until("what the host allows is known", async () => {
    const { body } = await open.service.call("GET", "/api/fleet/hosts");
    return body.hosts[0].allows === "read";
  });
  // No page of the host asks for what it would refuse.
  tab.complaints.length = 0;
  await tab.open("/hosts/edge-7/registries");
  await tab.find("heading", "Access denied");
  const text = await tab.page.evaluate(() => document.querySelector("main")!.textContent);
  match(text!, /Host edge-7 allows users of this server the role viewer at most/);
  deepEqual(tab.complaints, []);
});

long(dashboardTest)(
  "a member shows its hub, learns a lost link or its removal without a reload, and leaves",
  async () => {
    await using engine = fakeEngine(simulateContainers([{ name: "web" }]));
    await using hub = await startLongshore({
      engineSocket: engine.socketPath,
      env: { ...INSECURE, SERVER_NAME: "hub" },
    });
    await using open = await openDashboard({
      containers: [],
      env: { ...INSECURE },
      path: "/hosts",
    });
    const { tab, service } = open;
    await tab.find("button", "New host");
    const shows = (...texts: RegExp[]) =>
      until(`the page shows ${texts.join()}`, async () => {
        const text = await tab.page.evaluate(() =>
          document.querySelector("main")!.textContent ?? ""
        );
        return texts.every((each) => each.test(text));
      });
    await joinFleet(hub, service, { labels: { site: "kiel" } });
    await shows(/Connected/, /site=kiel/, /FLEET_ALLOW=operate/);
    await checkBothThemes(tab);
    const [{ id }] = (await hub.call("GET", "/api/fleet/hosts")).body.hosts;
    await hub.call("DELETE", `/api/fleet/hosts/${id}`);
    await shows(/hub ended the membership of this host as \S+ .*: The host was removed/);
    await tab.press("Dismiss", "The entry was deleted");
    await tab.gone("heading", "Hub");

    await joinFleet(hub, service);
    await shows(/Connected/);
    await hub.kill9();
    await shows(/Away/, /The hub cannot be reached/, /Next attempt/);
    await tab.click("button", "Leave the fleet");
    await tab.press("Leave", "Left the fleet of hub");
    await tab.gone("heading", "Hub");
  },
);
