import { equal } from "node:assert/strict";
import { isSwarmTask } from "../../../services/swarm/tasks.ts";
import { idOf } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";

const labelled = { id: idOf("web"), labels: { "com.docker.swarm.task.id": "t1" } };
const manager = { LocalNodeState: "active", ControlAvailable: true };
const taskOf = (id: string) => ({ ID: "t1", Status: { ContainerStatus: { ContainerID: id } } });

for (
  const { what, swarm, tasks, container = labelled, isTask } of [
    { what: "a labelled container without a swarm", swarm: undefined, isTask: false },
    {
      what: "a labelled container of a node that left its swarm",
      swarm: { LocalNodeState: "inactive" },
      isTask: false,
    },
    {
      what: "a labelled container unknown to the manager",
      swarm: manager,
      tasks: [taskOf(idOf("other"))],
      isTask: false,
    },
    { what: "a task on the manager", swarm: manager, tasks: [taskOf(labelled.id)], isTask: true },
    {
      what: "a labelled container on a worker",
      swarm: { LocalNodeState: "active", ControlAvailable: false },
      isTask: true,
    },
    {
      what: "a container without the label",
      swarm: manager,
      container: { ...labelled, labels: {} },
      isTask: false,
    },
  ]
) {
  Deno.test(`${what} is ${isTask ? "a task" : "not a task"}`, async () => {
    await using fake = fakeEngine({
      "GET /info": () => Response.json({ Swarm: swarm }),
      "GET /tasks": () => Response.json(tasks ?? []),
    });
    equal(await isSwarmTask(fake.engine, container), isTask);
  });
}

Deno.test("a labelled container counts as a task while the engine does not answer", async () => {
  await using fake = fakeEngine();
  equal(await isSwarmTask(fake.engine, labelled), true);
});
