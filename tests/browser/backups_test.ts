/** The page Backups, with targets in a directory and on an S3 server. */

import { deepEqual, equal, match } from "node:assert/strict";
import { dashboardTest, PHONE } from "../helpers/dashboard.ts";
import {
  checkBothThemes,
  checkEmptyDialog,
  deleteRow,
  rowMatches,
  select,
} from "../helpers/dashboard_steps.ts";
import { composeLabels } from "../helpers/fake_containers.ts";
import { long } from "../helpers/long.ts";
import { openDashboard } from "../helpers/open_dashboard.ts";
import { S3_KEY, startS3 } from "../helpers/target_servers.ts";
import { until } from "../helpers/until.ts";

long(dashboardTest)("backup targets are created, tested, changed and deleted", async (t) => {
  await using s3 = await startS3();
  await using open = await openDashboard({
    containers: [{ name: "web" }],
    env: { OUTBOUND_ALLOW: "127.0.0.0/8" },
    path: "/backups/targets",
  });
  const { tab } = open;

  await t.step("a directory, whose password is shown once", async () => {
    await checkEmptyDialog(tab, "New target", "Name");
    await tab.openDialog("New target");
    await tab.type("textbox", "Name", "local");
    await tab.click("button", "Create");
    await tab.find("dialog", "Repository created");
    const password = await (await tab.find("textbox", "Password")).evaluate((field) =>
      (field as HTMLInputElement).value
    );
    match(password, /^[\w-]{43}$/);
    await checkBothThemes(tab);
    await tab.click("button", "Done");
    await rowMatches(tab, "local", /Default.*Directory.*snapshots.*[GM]iB.*OK/s);
  });
  await t.step("an S3 server, with a test", async () => {
    await tab.openDialog("New target");
    await tab.type("textbox", "Name", "cloud");
    await select(tab, "Kind", "s3");
    await tab.fill({
      Address: `${s3.url}/backups/longshore`,
      "Access key ID": S3_KEY.accessKeyId,
      "Secret access key": "wrong",
    });
    await checkBothThemes(tab);
    await tab.click("button", "Create");
    await tab.alert(/correct secretAccessKey and region/);
    await tab.refused(502);
    await tab.type("textbox", "Secret access key", S3_KEY.secretAccessKey);
    await tab.click("button", "Create");
    await tab.find("dialog", "Repository created");
    await tab.click("button", "Done");
    await tab.choose("cloud", "Test");
    await tab.status("Tested cloud: it opens, and accepts files");
    await rowMatches(tab, "cloud", /S3.*OK/s);
    await tab.choose("cloud", "Check");
    await tab.status("Checked cloud: no problems");
    await tab.choose("cloud", "Forget");
    await tab.type("spinbutton", "Newest", "3");
    await checkBothThemes(tab);
    await tab.click("button", "Forget");
    await tab.status("Forgot old snapshots in cloud");
    await tab.choose("cloud", "Unlock");
    await checkBothThemes(tab);
    await tab.click("button", "Remove");
    await tab.status("Removed stale locks of cloud");
    await tab.choose("cloud", "Make default");
    await rowMatches(tab, "cloud", /Default/);
  });
  await t.step("a change keeps the secrets", async () => {
    await tab.choose("cloud", "Edit");
    await tab.type("textbox", "Region", "eu-central-1");
    await tab.click("button", "Save");
    await tab.gone("dialog");
    await tab.choose("cloud", "Test");
    await tab.status("Tested cloud: it opens, and accepts files");
  });
  await t.step("Longshore itself, and its schedule", async () => {
    await tab.click("tab", "This server");
    await tab.openDialog("Back up Longshore");
    await tab.click("button", "Back up");
    await tab.status("Backed up Longshore");
    await tab.click("button", "Schedule");
    await tab.find("dialog", "New schedule");
    await tab.press("Create", "Created Back up Longshore");
    await checkBothThemes(tab);
    await tab.click("link", /ago|now/);
    await tab.find("button", "Download");
    await tab.click("button", "Download");
    await tab.status("Downloaded the backup");
    await checkBothThemes(tab);
    await tab.open("/backups/targets");
  });
  await t.step("tabs on a phone", async () => {
    await checkBothThemes(tab);
    await tab.page.setViewport({ ...PHONE, width: 360 });
    await tab.fits(360);
    await tab.click("tab", "This server");
    await tab.find("button", "Download backup");
    await tab.fits(360);
  });
  await t.step("deletion", async () => {
    await tab.click("tab", "Targets");
    const text = await deleteRow(tab, "local");
    match(text, /The snapshots in .*snapshots stay/);
    equal(tab.changes().at(-1)?.startsWith("DELETE /api/backup/targets/"), true);
  });
});

const volume = (name: string, stack?: string) => ({
  ...{ Name: name, Driver: "local", Scope: "local", CreatedAt: "2026-01-01T00:00:00Z" },
  Mountpoint: `/var/lib/docker/volumes/${name}/_data`,
  Labels: stack === undefined ? {} : { "com.docker.compose.project": stack },
  Options: {},
});

long(dashboardTest)(
  "a stack gets a schedule, and a day of the calendar lists its snapshots",
  async (t) => {
    await using open = await openDashboard({
      containers: [
        { name: "shop-web-1", labels: composeLabels("shop", "web"), volumes: ["shop_data"] },
      ],
      answers: {
        "GET /volumes": () =>
          Response.json({ Volumes: [volume("shop_data", "shop"), volume("own")] }),
      },
      path: "/backups",
    });
    const { service, tab } = open;
    await t.step("schedule", async () => {
      await rowMatches(tab, "shop", /Never backed up/);
      await tab.click("button", "Schedule shop");
      await tab.find("dialog", "New schedule");
      await checkBothThemes(tab);
      await tab.press("Create", "Created Back up shop");
      const { schedules: [{ kind, stack, keep }] } =
        (await service.call("GET", "/api/schedules")).body;
      deepEqual({ kind, stack, keep }, {
        kind: "backup",
        stack: "shop",
        keep: { daily: 7, weekly: 4 },
      });
      await tab.click("button", "Schedule shop");
      await tab.find("dialog", "Edit Back up shop");
      await tab.press("Save", "Saved Back up shop");
    });
    await t.step("pages of volumes", async () => {
      await tab.click("link", "own");
      await tab.find("heading", "own");
      const shown = () => tab.page.$eval("main", (each) => (each as HTMLElement).innerText);
      await tab.find("button", "Back up");
      match(await shown(), /Never backed up/);
      await tab.open("/volumes/shop_data");
      await tab.find("button", "Back up");
      match(await shown(), /With the stack shop\..*Never backed up.*, next/s);
      await checkBothThemes(tab);
    });
    await t.step("calendar", async () => {
      const { body } = await service.call("POST", "/api/backup/targets", { name: "here" });
      const restic = async (time: string) => {
        const { success, stderr } = await new Deno.Command("restic", {
          args: ["--no-cache", "--repo", body.location, "backup", "--time", time, "deno.json"],
          env: { RESTIC_PASSWORD: body.newPassword },
        }).output();
        equal(success, true, new TextDecoder().decode(stderr));
      };
      for (const time of ["2026-02-03 12:00:00", "2026-02-03 13:00:00", "2026-02-04 12:00:00"]) {
        await restic(time);
      }
      await tab.open("/backups/snapshots?day=2026-02-04");
      await tab.find("region", "Snapshots in February 2026");
      await checkBothThemes(tab);
      const rows = () =>
        tab.page.$$eval("table[aria-label=Snapshots] tbody tr", (all) => all.length);
      await until("one snapshot is listed", async () => await rows() === 1);
      await tab.click("button", "3 February 2026: 2 snapshots");
      await until("two snapshots are listed", async () => await rows() === 2);
      await tab.click("button", "Previous month");
      await tab.find("region", "Snapshots in January 2026");
      await tab.page.setViewport({ ...PHONE, width: 360 });
      await tab.fits(360);
    });
  },
);
