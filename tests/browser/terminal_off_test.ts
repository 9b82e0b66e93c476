/** The tab "Terminal" of a service whose terminals are off. @module */

import { equal } from "node:assert/strict";
import { dashboardTest, DESKTOP, startDashboardBrowser } from "../helpers/dashboard.ts";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { long } from "../helpers/long.ts";
import { until } from "../helpers/until.ts";

long(dashboardTest)(
  "where terminals are off, the tab says what to set and shows no screen",
  async () => {
    await using engine = fakeEngine(simulateContainers([{ name: "web" }]));
    await using service = await startLongshore({ engineSocket: engine.socketPath });
    await using browser = await startDashboardBrowser();
    const tab = await browser.signIn(service, DESKTOP, { path: "/containers/web/terminal" });

    await until(
      "the reason is shown",
      () =>
        tab.page.evaluate(() =>
          document.querySelector("main")!.textContent.includes("set TERMINAL=admin")
        ),
    );
    equal(await tab.page.$(".terminal"), null);
  },
);
