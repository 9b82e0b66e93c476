/** The page Notifications, with channels that reach a receiver on loopback. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { type Dashboard, dashboardTest, PHONE } from "../helpers/dashboard.ts";
import {
  checkBothThemes,
  checkEmptyDialog,
  deleteRow,
  hasColumns,
  rowMatches,
  select,
  unfold,
} from "../helpers/dashboard_steps.ts";
import { type FakeReceiver, fakeReceiver } from "../helpers/fake_receiver.ts";
import { long } from "../helpers/long.ts";
import type { Longshore } from "../helpers/longshore.ts";
import { openDashboard } from "../helpers/open_dashboard.ts";
import { until } from "../helpers/until.ts";

/** A name that would be harmful as HTML. */
const HOSTILE = "<img src=x onerror=document.title='evil'>";

/** A name that would change the direction of the text after it. */
const BACKWARDS = "\u202Egnp.exe";

long(dashboardTest)("notification channels are created, tested, changed and deleted", async (t) => {
  let refusal: Response | undefined;
  await using receiver = fakeReceiver(() => refusal?.clone() ?? Response.json({ id: "1" }));
  await using open = await openDashboard({
    containers: [{ name: "web" }],
    env: { OUTBOUND_ALLOW: "127.0.0.0/8" },
    path: "/notifications",
  });
  const { service, tab } = open;

  await t.step("a list without channels says what to do", async () => {
    await until("the sentence", () => textContains(tab, "No channels yet."));
    await checkBothThemes(tab);
    // The dialog is higher than the window, and can be scrolled.
    await tab.openDialog("New channel");
    const name = await tab.find("textbox", "Name");
    equal(await name.evaluate((field) => field === document.activeElement), true);
    await tab.click("button", "Cancel");
    await tab.gone("dialog");
    await checkEmptyDialog(tab, "New channel", "Name");
  });
  await t.step("a new channel", () => createChannel(tab, service, receiver));
  await t.step("its test and deliveries", async () => {
    await tab.choose("On-call", "Test");
    await tab.status("Sent a test message to On-call");
    equal(receiver.received[0]?.headers.authorization, "Bearer tk_4f1c");
    await rowMatches(tab, "On-call", /ntfy\s+Alerts: fired, Containers: stopped.*Delivered/s);

    refusal = new Response("no such topic", { status: 404 });
    await tab.choose("On-call", "Test");
    await tab.alert(/^Could not send a test message to On-call: .*404/);
    await rowMatches(tab, "On-call", /Failed.*404/s);
    await checkBothThemes(tab);

    refusal = undefined;
    await tab.choose("On-call", "Deliveries");
    await tab.find("dialog", "Deliveries of On-call");
    await until("both deliveries", () => textContains(tab, /Failed.*404.*Sent \(200\)/s));
    await checkBothThemes(tab);
    await tab.press("Replay", "Sent the message to On-call again");
    await until("the third delivery", async () =>
      (await tab.names("button"))
        .filter((name) => name === "Replay").length === 3);
    equal(receiver.received.length, 3);
    await tab.click("button", "Close");
    await rowMatches(tab, "On-call", /Delivered/);
  });
  await t.step("a change keeps secrets that are not given again", async () => {
    await tab.choose("On-call", "Edit");
    await tab.find("dialog", "Edit On-call");
    const token = await tab.find("textbox", "Access token");
    equal(await token.evaluate((input) => (input as HTMLInputElement).value), "********");
    await tab.type("textbox", "Server", "https://ntfy.example.com");
    await tab.click("button", "Save");
    await tab.invalid("textbox", "Access token");
    await tab.refused();
    await checkBothThemes(tab);
    await tab.fill({ Server: receiver.url, Topic: "night" });
    await tab.press("Save", "Saved On-call");
    await tab.choose("On-call", "Test");
    await tab.status("Sent a test message to On-call");
    const last = receiver.received.at(-1)!;
    deepEqual([JSON.parse(last.body).topic, last.headers.authorization], [
      "night",
      "Bearer tk_4f1c",
    ]);
  });
  await t.step("a channel from a URL, with a hostile name", async () => {
    await tab.click("button", "New channel");
    await tab.type("textbox", "Name", HOSTILE);
    await select(tab, "Kind", "url");
    await tab.type("textbox", "URL", "carrier-pigeon://loft");
    await tab.click("button", "Create");
    await tab.invalid("textbox", "URL");
    await tab.refused();
    await tab.type("textbox", "URL", "gotify://gotify.example.com/AbCdEfGhIjKlMnO");
    await tab.press("Create", `Created ${HOSTILE}`);
    await rowMatches(tab, HOSTILE, /Gotify/);
    await tab.choose(HOSTILE, "Edit");
    await tab.type("textbox", "Name", BACKWARDS);
    await tab.press("Save", "Saved \\u202egnp.exe");
    await rowMatches(tab, "\\u202egnp.exe", /Gotify/);
    const { channels } = (await service.call("GET", "/api/notifications/channels")).body;
    const { id } = channels.find(({ name }: { name: string }) => name === BACKWARDS);
    await service.call("PUT", `/api/notifications/channels/${id}`, { name: HOSTILE });
    await tab.open("/notifications");
    await tab.click("switch", `Enable ${HOSTILE}`);
    await tab.status(`Disabled ${HOSTILE}`);
    match(await deleteRow(tab, HOSTILE), /deliveries are deleted/);
  });
  await t.step("on a phone", async () => {
    await tab.page.setViewport(PHONE);
    await tab.fits(PHONE.width);
    await tab.choose("On-call", "Edit");
    await tab.find("dialog", "Edit On-call");
    await checkBothThemes(tab);
    await tab.click("button", "Cancel");
    await tab.choose("On-call", "Deliveries");
    await tab.find("dialog", "Deliveries of On-call");
    await checkBothThemes(tab);
    await tab.click("button", "Close");
    await deleteRow(tab, "On-call");
  });
  deepEqual(tab.complaints, []);
});

async function createChannel(
  tab: Dashboard,
  service: Longshore,
  { url }: FakeReceiver,
): Promise<void> {
  await tab.click("button", "New channel");
  await tab.type("textbox", "Name", "On-call");
  // Each kind has its own fields.
  await select(tab, "Kind", "webhook");
  await tab.find("textbox", "Headers");
  await select(tab, "Kind", "signal");
  await tab.find("textbox", "Recipients");
  await select(tab, "Kind", "ntfy");
  await tab.gone("textbox", "Recipients");
  await tab.type("textbox", "Server", "ntfy.example.com");
  await tab.click("button", "Create");
  await tab.invalid("textbox", "Server");
  await tab.fill({ Server: url, Topic: "not a topic", "Access token": "tk_4f1c" });
  await tab.click("button", "Create");
  await tab.invalid("textbox", "Topic");
  await tab.refused();
  await checkBothThemes(tab);
  await tab.type("textbox", "Topic", "alerts");
  await tab.click("checkbox", "All events");
  await unfold(tab, "Alerts 0 of 3 chosen");
  await unfold(tab, "Containers 0 of 8 chosen");
  await tab.click("checkbox", "Fired");
  await tab.click("checkbox", "Stopped");
  await select(tab, "Minimum severity", "warning");
  await tab.fill({ Containers: "web*, db", Stacks: "shop" });
  await tab.type("spinbutton", "Digest (minutes)", "0");
  await select(tab, "Quiet hours", "yes");
  await tab.type("textbox", "From", "25:00");
  await tab.click("button", "Create");
  await tab.invalid("textbox", "From");
  await tab.type("textbox", "From", "23:30");
  await select(tab, "Time zone", "Europe/Berlin");
  await tab.press("Create", "Created On-call");
  await hasColumns(tab, ["Name", "Kind", "Events", "Last delivery", "Enabled"], "Channels");
  const { channels: [channel] } = (await service.call("GET", "/api/notifications/channels")).body;
  const { kind, config, events, minSeverity, containers, stacks, quietHours } = channel;
  deepEqual({ kind, config, events, minSeverity, containers, stacks, quietHours }, {
    kind: "ntfy",
    config: { url, topic: "alerts", token: "********" },
    events: ["alert.fired", "container.down"],
    minSeverity: "warning",
    containers: ["web*", "db"],
    stacks: ["shop"],
    quietHours: {
      from: "23:30",
      to: "07:00",
      timeZone: "Europe/Berlin",
      exceptSeverity: "critical",
    },
  });
}

async function textContains(tab: Dashboard, text: string | RegExp): Promise<boolean> {
  const shown = await tab.page.evaluate(() => document.body.innerText);
  return typeof text === "string" ? shown.includes(text) : text.test(shown);
}
