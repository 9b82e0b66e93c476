/** The page Git, and a stack that follows a repository. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { dashboardTest } from "../helpers/dashboard.ts";
import { checkBothThemes, rowMatches, select } from "../helpers/dashboard_steps.ts";
import { gitServer } from "../helpers/git_server.ts";
import { long } from "../helpers/long.ts";
import { openDashboard } from "../helpers/open_dashboard.ts";

const composeOf = (tag: string) => `services:\n  web:\n    image: nginx:${tag}\n`;

long(dashboardTest)("a repository is added, and its stacks show commits and edits", async () => {
  await using server = await gitServer();
  const copy = await server.create("stacks");
  const head = await copy.push({ "stacks/shop/compose.yaml": composeOf("1") }, "Add shop");
  await using open = await openDashboard({
    containers: [],
    env: { OUTBOUND_ALLOW: "127.0.0.1" },
    answers: {
      "GET /networks": () => Response.json([]),
      "GET /volumes": () => Response.json({ Volumes: [] }),
      "GET /info": () => Response.json({}),
    },
    path: "/git",
  });
  const { tab, service } = open;
  await tab.click("button", "New repository");
  await tab.fill({ Name: "Stacks", Address: "git@git.example.com:ada/stacks.git" });
  await tab.pressRefused("Create", /use https:\/\/git\.example\.com\/ada\/stacks\.git/);
  // The problem is shown once, at the field.
  equal(await tab.page.$$eval("form .note.danger", (notes) => notes.length), 0);
  await tab.invalid("textbox", "Address");
  await tab.fill({ Address: copy.url, Stacks: "stacks/*/compose.yaml" });
  await tab.click("button", "Create");
  await tab.invalid("textbox", "Stacks");
  await tab.type("textbox", "Stacks", "stacks/*/compose.yaml * manual");
  await checkBothThemes(tab);
  await tab.press("Create", "Created Stacks");
  match(
    await (await tab.find("textbox", "Secret")).evaluate((input) =>
      (input as HTMLInputElement).value
    ),
    /^whsec_/,
  );
  await tab.click("button", "Done");
  await tab.choose("Stacks", "Edit");
  await tab.type("textbox", "Stacks", `stacks/*/compose.yaml * manual env:TAG="a b"`);
  await select(tab, "Status of commits", "gitea");
  await tab.fill({ "API address": "https://192.168.1.2/api/v1", "Status token": "t0ken" });
  await tab.press("Save", "Saved Stacks");
  const [saved] = (await service.call("GET", "/api/git/repositories")).body.repositories;
  deepEqual([saved.mapping[0].env, saved.status], [{ TAG: "a b" }, {
    kind: "gitea",
    apiUrl: "https://192.168.1.2/api/v1",
    token: "********",
  }]);
  await tab.choose("Stacks", "Fetch");
  await tab.status("Fetched Stacks");
  await rowMatches(
    tab,
    "Stacks",
    new RegExp(`Add shop.*${head.slice(0, 10)}, Ada.*shop.*Not deployed`, "s"),
  );
  await checkBothThemes(tab);

  await tab.choose("Stacks", "Attach a stack");
  await tab.fill({ Stack: "blog", "Compose file": "stacks/shop/compose.yaml" });
  await tab.press("Attach", "blog follows the repository");

  await tab.click("link", "shop");
  await tab.find("heading", "Git");
  await checkBothThemes(tab);

  // As after a deploy of the first commit.
  using db = new DatabaseSync(`${service.dataDir}/state.sqlite`);
  db.prepare("UPDATE git_stacks SET deployed_version = 1, deployed_commit = ? WHERE stack = 'shop'")
    .run(head);
  await copy.push({ "stacks/shop/compose.yaml": composeOf("2") }, "Update nginx");
  equal((await service.call("POST", `/api/git/repositories/${saved.id}/fetch`)).status, 200);
  await tab.open("/stacks/shop");
  await tab.click("button", "Show changes");
  await tab.find("region", "Deployed to newest sources");
  await tab.click("button", "Close");
  await (await tab.find("region", "Git")).$("aria/Deploy[role='button']").then((button) =>
    button!.click()
  );
  await tab.find("dialog", "Deploy shop");
  await tab.click("button", "Cancel");

  const edited = { compose: composeOf("9"), expectedVersion: 2 };
  equal((await service.call("PUT", "/api/stacks/shop/source", edited)).status, 200);
  await tab.open("/stacks/shop");
  await tab.click("button", "Show edit");
  await tab.find("region", "Commit to current sources");
  await tab.click("button", "Close");
  await tab.click("button", "Discard edit");
  await tab.find("alertdialog", "Discard shop?");
  await tab.press("Discard", "Discarded the edit of shop");
  await tab.click("button", "Detach");
  await tab.press("Detach", "Detached shop");
  await tab.gone("heading", "Git");
});
