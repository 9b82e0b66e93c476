import { dashboardTest, DESKTOP, PHONE, startDashboardBrowser } from "../helpers/dashboard.ts";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { joinFleet } from "../helpers/joined_host.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { PATHS } from "../../ui/paths.ts";

const INSECURE = { FLEET_INSECURE: "on" };
const ADMIN = { email: "admin@example.com", password: "correct horse battery staple" };
const OUT = "/tmp/fleetb/shots";

dashboardTest("look at limited logins", async () => {
  await Deno.mkdir(OUT, { recursive: true });
  await using hubEngine = fakeEngine(simulateContainers([{ name: "hub-web" }]));
  const labels = { "com.docker.compose.project": "shop", "com.docker.compose.service": "web" };
  await using engine = fakeEngine(simulateContainers([{ name: "shop-web-1", labels }, { name: "db" }]));
  await using hub = await startLongshore({
    engineSocket: hubEngine.socketPath,
    env: { ...INSECURE, SERVER_NAME: "hub", AUTH_MODE: "users", ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password },
  });
  await using member = await startLongshore({ engineSocket: engine.socketPath, env: INSECURE });
  const login = await hub.call("POST", "/auth/login", ADMIN, { token: null });
  const token = login.body.accessToken;
  const as = (t: string): typeof hub => ({ ...hub, call: (m, p, b) => hub.call(m, p, b, { token: t }) });
  console.log((await as(token).call("POST", "/api/edition/trial")).status);
  await joinFleet(as(token), member);
  for (const role of ["viewer", "admin"]) {
    const user = await as(token).call("POST", "/api/users", { email: `${role}2@example.com`, password: "another horse battery staple", role });
    const made = await as(token).call("POST", "/api/ext/service-enterprise/roles", { name: `Edge ${role}`, permissions: [], hosts: ["edge-*"] });
    console.log(user.status, made.status, JSON.stringify(made.body));
    const assigned = await as(token).call("POST", `/api/ext/service-enterprise/roles/${made.body.id}/users`, { user_id: user.body.id });
    console.log(assigned.status, JSON.stringify(assigned.body));
  }
  await using browser = await startDashboardBrowser();
  for (const role of ["viewer", "admin"]) {
    const own = await browser.separate();
    const tab = await own.signIn(hub, DESKTOP, { as: { email: `${role}2@example.com`, password: "another horse battery staple" } });
    await tab.loaded();
    console.log(role, "nav", await tab.page.$$eval("nav a", (a) => a.map((e) => e.getAttribute("href"))));
    for (const path of PATHS) {
      if (path.includes(":") || path === "/setup" || path === "/sign-in") continue;
      for (const at of ["", "/hosts/edge-7"]) {
        if (at && /users|sessions|tokens|account|sso|roles|ip-allow|mtls|branding|encryption|compliance|audit|license|settings|status|docs|hosts/.test(path)) continue;
        tab.complaints.length = 0;
        await tab.open(at + path);
        await tab.loaded();
        await new Promise((r) => setTimeout(r, 150));
        const text = await tab.page.$eval("main", (m) => (m as HTMLElement).innerText.slice(0, 150).replaceAll("\n", " | "));
        console.log(role, at + path, JSON.stringify(tab.complaints.filter((c) => /^\d/.test(c))), text);
      }
    }
    for (const theme of ["light", "dark"] as const) {
      await tab.open("/");
      await tab.theme(theme);
      for (const [n, v] of [["d", { width: 1440, height: 900 }], ["p", PHONE]] as const) {
        await tab.page.setViewport(v);
        for (const [name, path] of [["overview", "/"], ["hosts", "/hosts"], ["waves", "/hosts?list=waves"], ["logs", "/logs"], ["containers", "/containers"], ["account", "/account"], ["tokens", "/tokens"]] as const) {
          await tab.open(path);
          await tab.loaded();
          await tab.page.screenshot({ path: `${OUT}/limited-${role}-${name}-${theme}-${n}.png`, fullPage: true });
        }
      }
      await tab.page.setViewport(DESKTOP);
    }
  }
});
