/**
 * Makes the pictures in `docs/`, of the dashboard, the API page, a failed update and a status
 * page, with the real service and an engine of its own.
 *
 *     deno task screenshots
 *
 * @module
 */

import { ok } from "node:assert/strict";
import { type Dashboard, startDashboardBrowser } from "../../tests/helpers/dashboard.ts";
import { addHostHistory } from "../../tests/helpers/host_history.ts";
import { type Longshore, startLongshore } from "../../tests/helpers/longshore.ts";
import { BUSYBOX, type OwnEngine, startDockerd } from "../../tests/helpers/real_engine.ts";
import { PAGES } from "../../tests/helpers/status_pages.ts";
import { until } from "../../tests/helpers/until.ts";

const VIEW = { width: 1440, height: 900 };
const docs = new URL("../../docs/", import.meta.url);

/** Time for collecting figures before the pictures are made, in milliseconds. */
const COLLECT_MS = Number(Deno.env.get("COLLECT_SECONDS") ?? 120) * 1000;

const SERVE = `
  echo listening on port 80
  trap 'exit 0' TERM
  n=0
  while :; do
    n=$((n + 1))
    echo "INFO GET /orders/$n 200 $((n % 40 + 3)) ms"
    if [ $((n % 9)) = 0 ]; then echo "WARN payment of order $n took 812 ms"; fi
    if [ $((n % 17)) = 0 ]; then echo "ERROR payment of order $n failed: connection reset"; fi
    i=0
    while [ $i -lt LOAD ]; do i=$((i + 1)); done
    sleep 1
  done`;

const CRASH = `
  echo "INFO payments 3.2.0 starts"
  echo "INFO connecting to postgres:5432"
  echo "ERROR column orders.currency does not exist, run the migrations first"
  exit 1`;

/** Stack, service, image, load and more options of `docker run`. */
const CONTAINERS: readonly (readonly [string, string, string, number, ...string[]])[] = [
  ["shop", "web", "nginx:1.29", 2_000, "--publish", "8080:80", "--health-cmd", "true"],
  ["shop", "api", "registry.example.com/shop/api:2.14.1", 20_000, "--health-cmd", "true"],
  ["shop", "worker", "registry.example.com/shop/worker:2.14.1", 40_000],
  ["shop", "postgres", "postgres:17", 8_000, "--volume", "shop_data:/var/lib/postgresql/data"],
  ["shop", "redis", "redis:8", 1_000, "--volume", "shop_cache:/data"],
  ["monitoring", "grafana", "grafana/grafana:12.1", 4_000, "--publish", "3001:3000"],
  ["monitoring", "prometheus", "prom/prometheus:v3.5", 10_000],
  ["gateway", "traefik", "traefik:v3.5", 1_500, "--publish", "8443:443"],
  ["gateway", "mailer", "registry.example.com/mailer:1.8", 500, "--health-cmd", "exit 1"],
];

if (import.meta.main) {
  await using engine = await startDockerd();
  await startContainers(engine);
  await using service = await startLongshore({
    engineSocket: engine.socketPath,
    env: { SERVER_NAME: "harbor-1" },
  });
  await using browser = await startDashboardBrowser();
  const tab = await browser.signIn(service, VIEW);
  await new Promise((resolve) => setTimeout(resolve, COLLECT_MS));
  await addHostHistory(service);
  for (const theme of ["light", "dark"] as const) {
    for (
      const [name, path] of [
        ["overview", "/"],
        ["containers", "/containers?group=stack"],
        ["logs", "/logs?container=web"],
      ] as const
    ) {
      await tab.open(path);
      await tab.theme(theme);
      await until(
        "the page is complete",
        () =>
          tab.page.evaluate(() =>
            !document.querySelector("[aria-busy=true]") &&
            !document.querySelector("main")!.textContent.includes("Loading")
          ),
      );
      await takePicture(tab, `dashboard-${name}-${theme}`);
    }
  }
  const slug = await publishStatusPage(service);
  await tab.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  await tab.open("/docs#listContainers");
  await tab.click("button", "Send");
  await tab.find("region", "Response body");
  await takePicture(tab, "api-page");
  await tab.theme("light");
  await tab.page.setViewport({ width: 1200, height: 860 });
  await failUpdate(engine, service);
  await tab.open("/updates");
  await tab.choose("the update of payments", "Details");
  await tab.find("dialog", "Update of payments");
  await takePicture(tab, "update-rolled-back");
  await tab.page.setViewport({ width: 900, height: 1200 });
  await tab.open(`/status/${slug}`);
  await takePicture(tab, "status-page");
}

async function takePicture({ page }: Dashboard, name: string): Promise<void> {
  await page.waitForNetworkIdle({ concurrency: 2 });
  await Deno.writeFile(new URL(`${name}.png`, docs), await page.screenshot());
}

/** Updates a container to an image that cannot start, and waits until the old one is back. */
async function failUpdate(engine: OwnEngine, service: Longshore): Promise<void> {
  const image = "registry.example.com/shop/payments";
  await commitImage(engine, `${image}:3.1.0`, SERVE.replace("LOAD", "1000"));
  await commitImage(engine, `${image}:3.2.0`, CRASH);
  await engine.docker(
    ...["run", "--detach", "--name", "payments", "--restart", "always"],
    ...["--label", "com.docker.compose.project=shop"],
    ...["--label", "com.docker.compose.service=payments", `${image}:3.1.0`],
  );
  const update = { image: `${image}:3.2.0`, pull: "never" };
  const started = await until("the update starts", async () => {
    const answer = await service.call("POST", "/api/containers/payments/update", update);
    return answer.status < 300 ? answer : undefined;
  });
  const path = `/api/jobs/${started.body.id}`;
  await until("the update is rolled back", async () => {
    const { body } = await service.call("GET", path);
    return body.status === "rolled_back" || undefined;
  }, { deadlineMs: 300_000 });
}

/** An image whose containers run `script`. */
async function commitImage(engine: OwnEngine, image: string, script: string): Promise<void> {
  const container = await engine.docker("create", BUSYBOX, "true");
  const command = `CMD ${JSON.stringify(["sh", "-c", script])}`;
  await engine.docker("commit", "--change", command, container, image);
  await engine.docker("rm", container);
}

/** @returns The last part of its address. */
async function publishStatusPage(service: Longshore): Promise<string> {
  const create = async (path: string, body?: unknown) => {
    const answer = await service.call("POST", path, body);
    ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await create("/api/edition/trial");
  const description = "State of our services";
  const { id, slug } = await create(PAGES, { name: "Acme", description, is_public: true });
  const page = `${PAGES}/${id}`;
  for (const name of ["Website", "API", "Search", "Mail"]) {
    await create(`${page}/components`, { name });
  }
  await create(`${page}/components`, { name: "Payments", status: "partial_outage" });
  const incident = await create(`${page}/incidents`, {
    ...{ title: "Payments are slow", severity: "minor" },
    message: "We are investigating delayed payments.",
  });
  await create(`${page}/incidents/${incident.id}/updates`, {
    ...{ status: "identified", message: "A queue was stuck. We are working on it." },
  });
  const startsAt = Date.now() + 2 * 24 * 60 * 60 * 1000;
  await create(`${page}/maintenances`, {
    ...{ title: "Database upgrade", message: "Short interruptions are possible." },
    starts_at: new Date(startsAt).toISOString(),
    ends_at: new Date(startsAt + 90 * 60 * 1000).toISOString(),
  });
  return slug;
}

async function startContainers(engine: OwnEngine): Promise<void> {
  for (const [stack, name, image, load, ...options] of CONTAINERS) {
    await engine.docker("tag", BUSYBOX, image);
    await engine.docker(
      ...["run", "--detach", "--name", name, "--health-interval", "5s"],
      ...["--label", `com.docker.compose.project=${stack}`],
      ...["--label", `com.docker.compose.service=${name}`, ...options],
      ...[image, "sh", "-c", SERVE.replace("LOAD", String(load))],
    );
  }
  await engine.docker("create", "--name", "backup-2026-11-21", "postgres:17", "true");
}
