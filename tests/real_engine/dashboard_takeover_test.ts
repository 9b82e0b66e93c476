/**
 * The dashboard takes over stacks of other programs, in a real Chromium with the real service and
 * engine.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { join } from "node:path";
import { PHONE, startDashboardBrowser } from "../helpers/dashboard.ts";
import { checkBothThemes } from "../helpers/dashboard_steps.ts";
import { long } from "../helpers/long.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { BUSYBOX, privateEngineTest, type RealEngine } from "../helpers/real_engine.ts";

const COMPOSE =
  `services:\n  web:\n    image: ${BUSYBOX}\n    command: sleep 100000\n    stop_signal: SIGKILL\n`;

long(privateEngineTest)("the dashboard takes over stacks and gives them back", async (engine) => {
  const root = await Deno.makeTempDir({ prefix: "longshore-test-" });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => Deno.remove(root, { recursive: true }));
  for (const name of ["harbor", "ready"]) {
    await Deno.mkdir(join(root, name));
    await Deno.writeTextFile(join(root, name, "compose.yaml"), COMPOSE);
  }
  const containers = [
    stack.use(await runElsewhere(engine, "harbor", join(root, "harbor"), "harbor/compose.yaml")),
    stack.use(await runElsewhere(engine, "garden", "/gone/garden", "/gone/garden/compose.yaml")),
    stack.use(await engine.runContainer({ name: "single", network: "bridge" })),
  ];
  const service = stack.use(
    await startLongshore({ engineSocket: engine.socketPath, env: { STACK_ROOTS: root } }),
  );
  const browser = stack.use(await startDashboardBrowser());
  const tab = await browser.signIn(service);

  await tab.open("/takeover");
  await tab.find("row", /harbor.*Recreates 1 service/);
  await tab.find("row", /garden.*Generated from the containers.*Nothing changes/);
  await tab.find("row", /ready.*web/);
  await tab.find("row", /single/);
  await checkBothThemes(tab);
  await tab.page.setViewport({ ...PHONE, width: 360 });
  await tab.fits(360);
  await tab.page.setViewport({ width: 1440, height: 900 });

  await tab.click("button", "Take over 1 stack");
  await tab.find("link", "garden");
  await tab.gone("row", /garden.*Nothing changes/);
  await tab.find("row", /garden.*Generated/);

  await tab.choose("harbor", "Choose source");
  await tab.find("dialog", "Source of harbor");
  await checkBothThemes(tab);
  await tab.click("radio", "Another Compose file on the host");
  await tab.fill({ Path: join(root, "ready/compose.yaml") });
  await tab.click("button", "Take over");
  await tab.find("alert", /^A deploy would recreate web;/);
  await tab.refused(409);
  await tab.find("dialog", "Source of harbor");
  await tab.click("checkbox", "The next deploy may recreate web");
  await tab.checkAccessibility();
  await tab.click("radio", "Generated from the containers");
  await tab.click("button", "Take over");
  await tab.gone("dialog");
  await tab.gone("row", /harbor.*Recreates/);
  await tab.find("row", /harbor.*Generated/);
  const { body: plan } = await service.call("POST", "/api/stacks/harbor/plan", {});
  deepEqual(
    plan.changes.filter(({ action }: { action: string }) => action !== "none"),
    [],
  );

  await tab.choose("garden", "Give back");
  await tab.find("alertdialog", "Give back garden?");
  await tab.checkAccessibility();
  await tab.press("Give back", "Gave back garden");
  await tab.find("row", /garden.*Nothing changes/);
  deepEqual(tab.complaints, []);
  for (const { id } of containers) {
    equal(
      await engine.docker("inspect", "--format={{.RestartCount}} {{.State.Running}}", id),
      "0 true",
    );
  }
});

const runElsewhere = (engine: RealEngine, name: string, directory: string, file: string) =>
  engine.runContainer({
    name: `${name}-web-1`,
    labels: {
      "com.docker.compose.project": name,
      "com.docker.compose.service": "web",
      "com.docker.compose.container-number": "1",
      "com.docker.compose.oneoff": "False",
      "com.docker.compose.config-hash": "x",
      "com.docker.compose.project.working_dir": directory,
      "com.docker.compose.project.config_files": file,
    },
  });
