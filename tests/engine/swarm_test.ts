import { deepEqual, equal, rejects } from "node:assert/strict";
import { serviceInspect, serviceList, serviceUpdate, taskList } from "../../engine/swarm.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";

const service = { ID: "s1", Version: { Index: 7 }, Spec: { Name: "web" } };

Deno.test("services and tasks are listed", async () => {
  await using fake = fakeEngine({
    "GET /services": () => Response.json([service]),
    "GET /services/s1": () => Response.json(service),
    "GET /tasks": () => Response.json([{ ID: "t1" }]),
  });
  deepEqual(await serviceList(fake.engine), [service]);
  deepEqual(await serviceInspect(fake.engine, "s1"), service);
  equal((await taskList(fake.engine, { filters: { service: ["s1"] } }))[0]!.ID, "t1");
  deepEqual(fake.requests, [
    "GET /services?status=true",
    "GET /services/s1",
    "GET /tasks?filters=%7B%22service%22%3A%5B%22s1%22%5D%7D",
  ]);
});

Deno.test("serviceUpdate() sends the version that it replaces", async () => {
  let body;
  await using fake = fakeEngine({
    "POST /services/s1/update": (request) => {
      body = request.body;
      return Response.json({ Warnings: ["slow registry"] });
    },
  });
  const spec = { Name: "web", Mode: { Replicated: { Replicas: 3 } } };
  deepEqual(await serviceUpdate(fake.engine, "s1", 7, spec), { warnings: ["slow registry"] });
  deepEqual(body, spec);
  deepEqual(fake.requests, ["POST /services/s1/update?version=7"]);

  fake.answers["POST /services/s1/update"] = () =>
    Response.json({ message: "rpc error: update out of sequence" }, { status: 500 });
  await rejects(serviceUpdate(fake.engine, "s1", 7, spec), { status: 409 });
});
