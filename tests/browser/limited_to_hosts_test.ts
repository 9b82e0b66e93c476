/** The dashboard of a user whose custom role is limited to hosts of the fleet. @module */

import { deepEqual, match } from "node:assert/strict";
import { dashboardTest, PHONE, startDashboardBrowser } from "../helpers/dashboard.ts";
import { checkBothThemes } from "../helpers/dashboard_steps.ts";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { joinFleet } from "../helpers/joined_host.ts";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { until } from "../helpers/until.ts";

const ADMIN = { email: "admin@example.com", password: "correct horse battery staple" };
const USER = { email: "edge@example.com", password: "another horse battery staple" };
const ROLES = "/api/ext/service-enterprise/roles";

long(dashboardTest)(
  "a user who is limited to hosts sees pages of the fleet, and none asks for what is refused",
  async () => {
    await using ownEngine = fakeEngine(simulateContainers([{ name: "zqhub" }]));
    await using engine = fakeEngine(simulateContainers([{ name: "web", health: "unhealthy" }]));
    await using hub = await startLongshore({
      engineSocket: ownEngine.socketPath,
      env: {
        ...{ FLEET_INSECURE: "on", SERVER_NAME: "hub", AUTH_MODE: "users" },
        ...{ ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password },
      },
    });
    await using member = await startLongshore({
      engineSocket: engine.socketPath,
      env: { FLEET_INSECURE: "on", FLEET_ALLOW: "admin" },
    });
    const { body: { accessToken: token } } = await hub.call("POST", "/auth/login", ADMIN, {
      token: null,
    });
    const asAdmin: Longshore = {
      ...hub,
      call: (method, path, body) => hub.call(method, path, body, { token }),
    };
    await asAdmin.call("POST", "/api/edition/trial");
    await joinFleet(asAdmin, member);
    const { body: user } = await asAdmin.call("POST", "/auth/users", { ...USER, role: "admin" });
    const { body: role } = await asAdmin.call("POST", ROLES, {
      ...{ name: "Edge", permissions: [], hosts: ["edge-*"] },
    });
    await asAdmin.call("POST", `${ROLES}/${role.id}/users`, { user_id: user.id });

    await using browser = await startDashboardBrowser();
    const tab = await browser.signIn(hub, undefined, { as: USER });
    const text = () => tab.page.evaluate(() => document.querySelector("main")!.textContent!);
    await until("the figures of the hosts", async () => /1 unhealthy/.test(await text()));
    match(await text(), /edge-7: 1 unhealthy.*1 connected.*1 running/);
    await checkBothThemes(tab);
    deepEqual(
      await tab.page.$$eval("nav a", (links) => links.map(({ pathname }) => pathname)),
      ["/", "/logs", "/hosts"],
    );
    for (const path of ["/hosts", "/logs", "/tokens", "/account"]) {
      await tab.go(path);
      await tab.loaded();
    }
    await tab.open("/hosts");
    await tab.find("row", /edge-7.*Connected/);
    deepEqual((await tab.names("button")).filter((name) => name === "New host"), []);
    deepEqual((await tab.names("link")).filter((name) => name === "Waves"), []);
    await tab.go("/containers");
    match(await text(), /Your account is limited to hosts/);
    await tab.page.setViewport(PHONE);
    await tab.open("/");
    await tab.fits(PHONE.width);
    deepEqual(tab.complaints, []);
  },
);
