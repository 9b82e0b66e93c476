/**
 * The dashboard's pages of stacks: the editor, plans and versions, in a real Chromium with the real
 * service and engine.
 *
 * @module
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { temporaryDirectory } from "../helpers/command.ts";
import { type Dashboard, DESKTOP, PHONE, startDashboardBrowser } from "../helpers/dashboard.ts";
import { checkBothThemes } from "../helpers/dashboard_steps.ts";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { BUSYBOX, privateEngineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const PROJECT = "label=com.docker.compose.project=shop";

const COMPOSE = "services:\n  web:\n    image: $IMAGE\n";

long(privateEngineTest)("the dashboard edits, checks and plans a stack", async (engine) => {
  using root = temporaryDirectory();
  await using service = await startLongshore({
    engineSocket: engine.socketPath,
    env: { STACK_ROOTS: root.path },
  });
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service);

  await writeNewStack(tab);
  await leaveEditorByKeyboard(tab);
  await askBeforeLeaving(tab);
  await planNewStack(tab);
  equal(await engine.docker("ps", "--all", "--quiet", "--filter", PROJECT), "");
  await resolveConflict(tab, service);
  await restoreVersion(tab);
  await showOnPhone(tab);
  await deployAndTakeDown(tab, () => engine.docker("ps", "--quiet", "--filter", PROJECT));
  await createOnDisk(tab, root.path);
  await planExisting(tab, root.path);
  await beginOtherwise(tab);
  // The browser reports refusals: of a version that is not the current one, and of a stack without
  // containers.
  deepEqual(tab.complaints.filter((each) => !/\b40[49]\b/.test(each)), []);
});

/** Keys and values are completed, lines are indented, and problems are at their lines. */
async function writeNewStack(tab: Dashboard): Promise<void> {
  const { keyboard } = tab.page;
  await tab.open("/stacks");
  await tab.click("link", "New stack");
  await tab.click("textbox", "Compose file");
  await keyboard.type("ser");
  await tab.find("option", "services");
  await tab.checkAccessibility();
  await complete(tab, "services");
  await hasText(tab, "Compose file", "services:\n  ");
  await keyboard.type("web:\nimage: busybox\nrestart: unl");
  await complete(tab, "unless-stopped");
  await keyboard.type('\nport: "80"');
  await hasText(
    tab,
    "Compose file",
    'services:\n  web:\n    image: busybox\n    restart: unless-stopped\n    port: "80"',
  );
  await tab.find("listitem", /Line 5.*services\.web\.port is unknown; did you mean ports\?/);
  await checkBothThemes(tab);

  await replaceText(tab, "Compose file", COMPOSE);
  await tab.find("listitem", /Line 3.*IMAGE/);
  await tab.click("button", "Line 3");
  await until("the cursor is in line 3", () => isActiveLine(tab, "image: $IMAGE"));
  await replaceText(tab, "Environment", `IMAGE=${BUSYBOX}\n`);
  await tab.gone("list", "Problems");
  await tab.find("status", "No errors in 1 service");

  await tab.click("button", "Add file");
  await tab.find("dialog", "Add file");
  await tab.checkAccessibility();
  await tab.type("textbox", "Name", "../app.env");
  await tab.click("button", "Add");
  await until(
    "the name is refused",
    async () => (await tab.page.content()).includes("Must be a relative path without .."),
  );
  await tab.page.keyboard.press("Escape");
  await tab.gone("dialog");
}

/** Tab indents; after Escape it leaves the editor. */
async function leaveEditorByKeyboard(tab: Dashboard): Promise<void> {
  await tab.click("textbox", "Compose file");
  await tab.page.keyboard.press("Escape");
  await tab.page.keyboard.press("Tab");
  await until(
    "the focus is on the tab after the editor",
    () => tab.page.evaluate(() => document.activeElement?.getAttribute("role") === "tab"),
  );
  await hasText(tab, "Compose file", COMPOSE);
}

async function askBeforeLeaving(tab: Dashboard): Promise<void> {
  for (
    const leave of [
      () => tab.click("link", "Containers"),
      () => tab.page.evaluate(() => history.back()),
    ]
  ) {
    await leave();
    await tab.find("alertdialog", "Discard unsaved changes?");
    await tab.click("button", "Cancel");
    await tab.gone("alertdialog");
    equal(new URL(tab.page.url()).pathname, "/stacks/new");
    await hasText(tab, "Compose file", COMPOSE);
  }
}

async function planNewStack(tab: Dashboard): Promise<void> {
  await tab.type("textbox", "Name", "Shop");
  await tab.click("button", "Plan");
  await tab.invalid("textbox", "Name");
  deepEqual(tab.complaints, []);
  await tab.type("textbox", "Name", "shop");
  await tab.click("button", "Plan");
  await tab.find("table", "Plan");
  await tab.find("row", /web.*Create/);
  await checkBothThemes(tab);
  deepEqual(tab.requests.filter((each) => each === "POST /api/stacks"), []);
  await tab.click("button", "Save");
  await tab.status("Saved shop");
  await tab.find("heading", "shop");
}

/** Another user saves first: what they changed is shown, and then overwritten. */
async function resolveConflict(tab: Dashboard, service: Longshore): Promise<void> {
  const path = "/api/stacks/shop/source";
  const other = { compose: "services: {web: {image: other}}", expectedVersion: 1 };
  equal((await service.call("PUT", path, other)).status, 200);
  await replaceText(tab, "Compose file", `${COMPOSE}    tty: true\n`);
  await tab.click("button", "Save");
  await tab.find("dialog", "shop was changed meanwhile");
  await until("the difference is shown", async () => {
    return (await tab.page.content()).includes("+services: {web: {image: other}}");
  });
  await checkBothThemes(tab);
  await tab.click("button", "Save mine as version 3");
  await tab.status("Saved version 3 of shop");
  const { body } = await service.call("GET", path);
  equal(body.compose, `${COMPOSE}    tty: true\n`);
  equal(body.env, `IMAGE=${BUSYBOX}\n`);
}

async function restoreVersion(tab: Dashboard): Promise<void> {
  await tab.click("tab", "Versions");
  await tab.find("table", "Versions");
  await tab.checkAccessibility();
  await tab.choose("version 1", "Compare and restore");
  await tab.find("dialog", "Version 1 of shop");
  await until("the difference is shown", async () => {
    return (await tab.page.content()).includes("-    tty: true");
  });
  await tab.checkAccessibility();
  await tab.click("button", "Restore");
  await tab.status("Restored version 1 as version 4");
  await tab.click("tab", "Source");
  await hasText(tab, "Compose file", COMPOSE);
}

async function deployAndTakeDown(tab: Dashboard, running: () => Promise<string>): Promise<void> {
  await replaceText(
    tab,
    "Compose file",
    `${COMPOSE}    command: sleep 2147483647\n    init: true\n`,
  );
  await tab.click("button", "Deploy");
  await tab.status("Saved version 5 of shop");
  await tab.status("Deployed shop");
  equal((await running()).trim().split("\n").length, 1);
  await replaceText(tab, "Compose file", `${COMPOSE}    command: sh -c 'echo no luck; exit 3'\n`);
  await tab.click("button", "Deploy");
  await tab.find("dialog", "Deploy shop");
  await until("the plan is shown", async () => {
    return (await tab.page.content()).includes("A deploy recreates 1 service");
  });
  await checkBothThemes(tab);
  await tab.click("button", "Deploy");
  await tab.alert(/Rolled back: .*shop-web-1/);
  await tab.click("tab", "Services");
  await tab.find("row", /Deploy.*Rolled back.*shop-web-1/);
  await tab.find("row", /web.*Running.*shop-web-1/);
  await tab.page.reload();
  await tab.choose("the deploy of version 6", "Details");
  await tab.find("dialog", "Deploy of shop");
  await until("the last lines are shown", async () => {
    return (await tab.page.content()).includes("no luck");
  });
  await checkBothThemes(tab);
  await tab.click("button", "Close");
  await tab.find("link", "shop-web-1");
  await tab.click("button", "More actions");
  await tab.click("menuitem", "Down");
  await tab.find("alertdialog", "Down shop?");
  await checkBothThemes(tab);
  await tab.type("textbox", "Type shop to confirm", "shop");
  await tab.click("button", "Down");
  await tab.status("Removed shop");
  equal(await running(), "");
  await tab.gone("link", "shop-web-1");
}

/** Relative paths are those of the directory, which follows the name. */
async function createOnDisk(tab: Dashboard, root: string): Promise<void> {
  const compose = `${COMPOSE}    volumes: ["./data:/data"]\n`;
  const refusal = "The sources have errors";
  await tab.open("/stacks/new");
  await tab.type("textbox", "Name", "disk");
  await replaceText(tab, "Compose file", compose);
  await replaceText(tab, "Environment", `IMAGE=${BUSYBOX}\n`);
  await tab.find("listitem", /the stack has no directory for relative paths/);
  await tab.pressRefused("Plan", refusal);
  await tab.find("status", "1 error");
  await tab.click("radio", "In a directory on the host");
  await tab.gone("list", "Problems");
  const directory = await tab.find("textbox", "Directory");
  equal(await directory.evaluate((each) => (each as HTMLInputElement).value), `${root}/disk`);
  await checkBothThemes(tab);
  await tab.click("button", "Plan");
  await tab.find("row", /web.*Create/);
  await tab.gone("alert", refusal);
  await tab.click("button", "Save");
  await tab.status("Saved disk");
  await hasText(tab, "Compose file", compose);
  equal(await Deno.readTextFile(`${root}/disk/compose.yaml`), compose);
}

/** Without a Compose text, the files of the directory are planned. */
async function planExisting(tab: Dashboard, root: string): Promise<void> {
  await Deno.mkdir(`${root}/existing`);
  await Deno.writeTextFile(
    `${root}/existing/compose.yaml`,
    `services: {there: {image: "${BUSYBOX}"}}`,
  );
  await tab.open("/stacks/new");
  await tab.type("textbox", "Name", "existing");
  await tab.click("radio", "In a directory on the host");
  await tab.click("button", "Plan");
  await tab.find("row", /there.*Create/);
}

/** A pasted command becomes a Compose file at once, and an example brings its password. */
async function beginOtherwise(tab: Dashboard): Promise<void> {
  await tab.open("/stacks/new");
  await tab.click("textbox", "Compose file");
  await tab.page.keyboard.sendCharacter("docker run --rm -p 8080:80 nginx:1.27 nginx -g x");
  await tab.status("Converted the command into a Compose file");
  await hasText(
    tab,
    "Compose file",
    `services:
  nginx:
    image: nginx:1.27
    ports:
      - 8080:80
    command:
      - nginx
      - -g
      - x
`,
  );
  equal(await nameOfStack(tab), "nginx");
  ok((await tab.page.content()).includes("--rm has no key in a Compose file and was left out"));
  await replaceText(tab, "Compose file", "");
  await tab.click("button", "An example");
  await tab.click("menuitem", "PostgreSQL");
  const environment = await tab.find("textbox", "Environment");
  match(
    await environment.evaluate(({ textContent }) => textContent),
    /^POSTGRES_PASSWORD=[\w-]{24}$/,
  );
  equal(await nameOfStack(tab), "postgresql");
}

async function nameOfStack(tab: Dashboard): Promise<string> {
  const field = await tab.find("textbox", "Name");
  return await field.evaluate((each) => (each as HTMLInputElement).value);
}

async function showOnPhone(tab: Dashboard): Promise<void> {
  await tab.page.setViewport(PHONE);
  await tab.find("textbox", "Environment");
  await checkBothThemes(tab);
  await tab.fits(PHONE.width);
  await tab.page.setViewport(DESKTOP);
}

/** Chooses a completion, which is gone as soon as the button of the mouse is down. */
async function complete(tab: Dashboard, name: string): Promise<void> {
  const option = await tab.find("option", name);
  await option.evaluate((each) =>
    each.dispatchEvent(new MouseEvent("mousedown", { bubbles: true, cancelable: true }))
  );
}

/** Replaces the text of an editor. */
async function replaceText(tab: Dashboard, name: string, text: string): Promise<void> {
  const { keyboard } = tab.page;
  await tab.click("textbox", name);
  await keyboard.down("Control");
  await keyboard.press("a");
  await keyboard.up("Control");
  await keyboard.sendCharacter(text);
  await hasText(tab, name, text);
}

const hasText = (tab: Dashboard, name: string, text: string) =>
  until(`the text of ${name}`, async () => {
    const editor = await tab.find("textbox", name);
    return await editor.evaluate((each, text) => {
      const lines = [...each.querySelectorAll(".cm-line")].map(({ textContent }) => textContent);
      return lines.join("\n") === text;
    }, text);
  });

async function isActiveLine(tab: Dashboard, text: string): Promise<boolean> {
  const editor = await tab.find("textbox", "Compose file");
  return await editor.evaluate((each, text) => {
    const root = each.getRootNode() as ShadowRoot;
    return root.activeElement === each &&
      each.querySelector(".cm-activeLine")?.textContent?.trim() === text;
  }, text);
}
