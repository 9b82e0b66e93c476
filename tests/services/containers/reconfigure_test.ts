import { equal, rejects } from "node:assert/strict";
import { reconfigure } from "../../../services/containers/reconfigure.ts";
import { type FakeAnswer, fakeEngine } from "../../helpers/fake_engine.ts";

/** Messages of Docker 28 about a container that exits. */
const EXITING = [
  "cannot update a stopped container: unknown",
  "cannot update a deleted process: unknown",
  "runc did not terminate successfully: exit status 1: container not running\n: unknown",
  "no such container",
  "task 0123456789ab not found: not found",
];

/** Refuses with the messages in order, then changes. */
function refusing(...messages: string[]): FakeAnswer {
  return ({ parts: [id] }) => {
    const message = messages.shift();
    if (message === undefined) return Response.json({ Warnings: null });
    return Response.json({ message: `Cannot update container ${id}: ${message}` }, { status: 500 });
  };
}

Deno.test("reconfigure() repeats a change while the container exits", async () => {
  await using fake = fakeEngine({ "POST /containers/*/update": refusing(...EXITING) });

  equal(await reconfigure(fake.engine, "c1", { RestartPolicy: { Name: "no" } }), true);

  equal(fake.requests.length, EXITING.length + 1);
});

Deno.test("reconfigure() does not repeat what the kernel refuses", async () => {
  await using fake = fakeEngine({
    "POST /containers/*/update": refusing("failed to write 4096: device or resource busy"),
  });

  await rejects(reconfigure(fake.engine, "c1", { Memory: 4096 }), /resource busy/);

  equal(fake.requests.length, 1);
});
