import { deepEqual, match } from "node:assert/strict";
import { PHONE } from "../helpers/dashboard.ts";
import { openDashboard } from "../helpers/open_dashboard.ts";

const AT = "2026-01-01T00:00:00Z";

const node = (ID: string, Hostname: string, State: string, isLeader?: boolean) => ({
  ID,
  Version: { Index: 1 },
  CreatedAt: AT,
  UpdatedAt: AT,
  Spec: { Role: isLeader === undefined ? "worker" : "manager", Availability: "active", Labels: {} },
  Description: {
    Hostname,
    Platform: { OS: "linux", Architecture: "x86_64" },
    Engine: { EngineVersion: "28.2.2" },
  },
  Status: { State, Addr: "10.0.0.1" },
  ...isLeader !== undefined &&
    { ManagerStatus: { Leader: isLeader, Reachability: "reachable", Addr: "10.0.0.1:2377" } },
});

const service = {
  ID: "s1",
  Version: { Index: 1 },
  CreatedAt: AT,
  UpdatedAt: AT,
  Spec: {
    Name: "shop_web",
    Labels: { "com.docker.stack.namespace": "shop" },
    TaskTemplate: {
      ContainerSpec: { Image: "nginx:1.27", Secrets: [{ SecretID: "x1", SecretName: "key" }] },
    },
    Mode: { Replicated: { Replicas: 2 } },
  },
  Endpoint: { Ports: [{ Protocol: "tcp", TargetPort: 80, PublishedPort: 8080 }] },
};

const task = (ID: string, Slot: number, NodeID: string, state: string) => ({
  ID,
  ServiceID: "s1",
  Slot,
  NodeID,
  DesiredState: "running",
  Status: { State: state, Timestamp: AT },
  CreatedAt: AT,
  UpdatedAt: AT,
});

Deno.test("the page of a swarm shows nodes, services and secrets, and scales a service", async () => {
  const updates: unknown[] = [];
  await using dashboard = await openDashboard({
    containers: [],
    path: "/swarm",
    answers: {
      "GET /info": () =>
        Response.json({
          Swarm: { NodeID: "n1", LocalNodeState: "active", ControlAvailable: true },
        }),
      "GET /swarm": () =>
        Response.json({ ID: "w1", Version: { Index: 1 }, CreatedAt: AT, UpdatedAt: AT, Spec: {} }),
      "GET /nodes": () =>
        Response.json([node("n1", "edge-1", "ready", true), node("n2", "edge-2", "down")]),
      "GET /nodes/n1": () => Response.json(node("n1", "edge-1", "ready", true)),
      "GET /services": () => Response.json([service]),
      "GET /services/*": () => Response.json(service),
      "POST /services/*/update": ({ body }) => {
        updates.push(body.Mode);
        service.Spec.Mode = body.Mode;
        return Response.json({});
      },
      "GET /tasks": () =>
        Response.json(
          Array.from(
            { length: service.Spec.Mode.Replicated.Replicas },
            (_, at) => ({
              ...task(`t${at}`, at + 1, "n1", "running"),
              Spec: service.Spec.TaskTemplate,
            }),
          ),
        ),
      "GET /secrets": () =>
        Response.json([{
          ID: "x1",
          Version: { Index: 1 },
          CreatedAt: AT,
          UpdatedAt: AT,
          Spec: { Name: "key", Labels: {} },
        }]),
      "GET /configs": () => Response.json([]),
    },
  });
  const { tab } = dashboard;
  const leader = await tab.find("row", /edge-1/);
  match((await leader.evaluate((row) => row.textContent))!, /Leader.*This node.*Up.*Manager/);
  await tab.find("row", /edge-2.*Down.*Worker/);
  await tab.find("row", /shop_web.*Running.*2 \/ 2.*nginx:1\.27/);
  await tab.find("row", /key.*shop_web/);
  match(
    (await (await tab.find("note", "Warnings")).evaluate((e) => e.textContent))!,
    /Nodes down: edge-2/,
  );
  await tab.checkAccessibility();

  await tab.choose("shop_web", "Scale");
  await tab.type("spinbutton", "Replicas", "3");
  await tab.press("Scale", "Scaled shop_web to 3");
  deepEqual(updates, [{ Replicated: { Replicas: 3 } }]);
  await tab.find("row", /shop_web.*3 \/ 3/);

  // The other node is down.
  await tab.choose("edge-1", "Drain");
  const question = await tab.find("alertdialog", "Drain edge-1?");
  match((await question.evaluate((e) => e.textContent))!, /last node.*: shop_web stop/);
  await tab.click("button", "Cancel");
  await tab.page.setViewport(PHONE);
  await tab.fits(PHONE.width);
  deepEqual(tab.complaints, []);
});
