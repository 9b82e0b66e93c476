import { deepEqual, equal } from "node:assert/strict";
import { type Container, createInventory } from "../../../services/containers/inventory.ts";
import { containerOf } from "../../helpers/fake_containers.ts";

const EPOCH = Date.parse("2026-01-01T00:00:00Z");

const container = (id: string, change: Partial<Container> = {}) =>
  containerOf({ name: id, id, ...change });

function inventory() {
  let at = EPOCH;
  return {
    inventory: createInventory(() => new Date(at)),
    pass: (ms: number) => at += ms,
  };
}

const ids = (list: readonly Container[]) => list.map(({ id }) => id);

Deno.test("list() is newest first, ties by id", () => {
  const { inventory: all } = inventory();
  all.replaceAll([
    container("b"),
    container("a"),
    container("new", { createdAt: "2026-01-02T00:00:00.000Z" }),
  ], all.readNumber());
  deepEqual(ids(all.list()), ["new", "a", "b"]);
});

Deno.test("put() drops what was read before the stored state", () => {
  const { inventory: all } = inventory();
  const [early, late] = [all.readNumber(), all.readNumber()];
  all.put(container("a", { state: "exited" }), late);
  all.put(container("a", { state: "running" }), early);
  equal(all.get("a")?.state, "exited");
});

Deno.test("put() does not bring back what was removed meanwhile", () => {
  const { inventory: all } = inventory();
  const [early, late] = [all.readNumber(), all.readNumber()];
  all.remove("a", late);
  all.put(container("a"), early);
  equal(all.get("a"), undefined);
});

Deno.test("replaceAll() keeps what was read after the listing had begun", () => {
  const { inventory: all } = inventory();
  all.put(container("gone"), all.readNumber());
  const listing = all.readNumber();
  all.put(container("just created"), all.readNumber());
  all.replaceAll([container("a")], listing);
  deepEqual(ids(all.list()), ["a", "just created"]);
});

Deno.test("revision rises with every change and stays without one", () => {
  const { inventory: all } = inventory();
  const start = all.revision;
  all.put(container("a"), all.readNumber());
  const afterPut = all.revision;
  all.remove("unknown", all.readNumber());
  all.setLive(false);
  equal(all.revision, afterPut);
  all.setLive(true);
  equal(afterPut > start && all.revision > afterPut, true);
});

Deno.test("an expectation excuses one end of the container", () => {
  const { inventory: all } = inventory();
  all.expectDown("a");
  deepEqual([all.takeExpectedDown("a"), all.takeExpectedDown("a")], [true, false]);
});

Deno.test("an expectation lasts while the action does and five seconds longer", () => {
  const { inventory: all, pass } = inventory();
  const expected = all.expectDown("a");
  pass(60_000);
  expected.settle();
  pass(4_999);
  equal(all.takeExpectedDown("a"), true);

  all.expectDown("a").settle();
  pass(5_000);
  equal(all.takeExpectedDown("a"), false);
});

Deno.test("an expectation outlasts a loss of the engine's events, which are read later", () => {
  const { inventory: all, pass } = inventory();
  all.setLive(true);
  all.expectDown("ended before").settle();
  pass(5_000);
  all.expectDown("a").settle();
  all.expectDown("withdrawn").withdraw();
  all.setLive(false);
  pass(60_000);
  all.expectDown("b").settle();
  pass(60_000);
  all.setLive(true);
  deepEqual(
    ["ended before", "a", "withdrawn", "b"].map((id) => all.isDownExpected(id)),
    [false, true, false, true],
  );
  pass(5_000);
  equal(all.takeExpectedDown("a"), false);
});

Deno.test("an expectation that is withdrawn excuses nothing, and leaves those of others", () => {
  const { inventory: all } = inventory();
  const [withdrawn, other] = [all.expectDown("a"), all.expectDown("a")];
  withdrawn.withdraw();
  withdrawn.settle();
  other.settle();
  deepEqual([all.takeExpectedDown("a"), all.takeExpectedDown("a")], [true, false]);
});
