import { deepEqual, equal } from "node:assert/strict";
import {
  allowsPermission,
  includesContainer,
  includesStack,
  isLimited,
  type Scope,
  UNLIMITED as NONE,
} from "../../../services/access/scope.ts";
import { hideForeign, visibleTo } from "../../../services/containers/visible.ts";
import { createInventory } from "../../../services/containers/inventory.ts";
import { composeLabels, containerOf, idOf, taskLabels } from "../../helpers/fake_containers.ts";

for (
  const [pattern, name, matches] of [
    ["web", "web", true],
    ["web", "web2", false],
    ["web", "Web", false],
    ["web*", "web", true],
    ["web*", "web-1", true],
    ["web*", "my-web", false],
    ["*web", "my-web", true],
    ["*", "anything", true],
    ["a*b*c", "abc", true],
    ["a*b*c", "a-b-c", true],
    ["a*b*c", "a-c-b", false],
    ["a*bc", "abcbc", true],
    ["ab*ba", "aba", false],
    ["w.b", "web", false],
    ["**", "", true],
  ] as const
) {
  Deno.test(`the pattern ${pattern} ${matches ? "matches" : "does not match"} ${name}`, () => {
    equal(includesContainer({ ...NONE, containers: [pattern] }, containerOf({ name })), matches);
  });
}

Deno.test("a pattern of many stars is compared in linear time", () => {
  const scope = { ...NONE, containers: ["*a".repeat(120) + "b"] };
  equal(includesContainer(scope, containerOf({ name: "a".repeat(250) })), false);
});

Deno.test("a container has to match the stacks and the containers of a scope", () => {
  const web = containerOf({ name: "web", labels: composeLabels("shop", "web") });
  const task = containerOf({ name: "shop_web.1.t1", labels: taskLabels("shop", "web") });
  const alone = containerOf({ name: "shop" });
  const included = (scope: Partial<Scope>) =>
    [web, task, alone].filter((each) => includesContainer({ ...NONE, ...scope }, each))
      .map(({ name }) => name);

  deepEqual(included({}), ["web", "shop_web.1.t1", "shop"]);
  deepEqual(included({ stacks: ["shop"] }), ["web", "shop_web.1.t1"]);
  deepEqual(included({ containers: ["web"] }), ["web"]);
  deepEqual(included({ containers: ["shop*"], stacks: ["sho*"] }), ["shop_web.1.t1"]);
  deepEqual(included({ stacks: ["other"], containers: ["*"] }), []);
  deepEqual(included({ stacks: [] }), []);
});

Deno.test("a stack is in a scope of stacks only", () => {
  equal(includesStack(undefined, "shop"), true);
  equal(includesStack({ ...NONE, stacks: ["s*"] }, "shop"), true);
  equal(includesStack({ ...NONE, stacks: ["s*"] }, "blog"), false);
  equal(includesStack({ ...NONE, stacks: ["s*"], containers: ["web"] }, "shop"), false);
});

Deno.test("permissions alone do not limit the containers", () => {
  const scope = { ...NONE, permissions: ["containers:read"] };
  deepEqual([isLimited(undefined), isLimited(scope)], [false, false]);
  equal(allowsPermission(scope, "containers:read"), true);
  equal(allowsPermission(scope, "containers:logs"), false);
  equal(allowsPermission(undefined, "containers:logs"), true);
});

function inventoryOf(...names: string[]) {
  const inventory = createInventory(() => new Date("2026-01-01T00:00:00Z"));
  inventory.replaceAll(names.map((name) => containerOf({ name })), inventory.readNumber());
  inventory.setLive(true);
  return inventory;
}

Deno.test("visibleTo() filters every read of the inventory and passes on writes", async () => {
  const inventory = inventoryOf("web", "other");
  const scope = { ...NONE, containers: ["web"] };
  const visible = visibleTo({ inventory }, { scope }).inventory;
  const names = (list: readonly { name: string }[]) => list.map(({ name }) => name).sort();

  deepEqual(names(visible.list()), ["web"]);
  deepEqual(names(visible.listFollowed()), ["web"]);
  equal(visible.get(idOf("other")), undefined);
  equal(visible.get(idOf("web"))?.name, "web");
  equal(visible.live, true);
  visible.setLive(false);
  equal(inventory.live, false);
  equal(visible.live, false);
  // Two callers share a listing; each sees its own part of it.
  const [mine, all] = await Promise.all([
    visible.shareListing(() => Promise.resolve(visible.list())),
    inventory.shareListing(() => Promise.resolve(inventory.list())),
  ]);
  deepEqual([names(mine), names(all)], [["web"], ["other", "web"]]);
  equal(visibleTo({ inventory }, {}).inventory, inventory);
});

Deno.test("hideForeign() replaces messages that mention other containers", () => {
  const inventory = inventoryOf("web", "vpn");
  const told = (message: string) =>
    hideForeign({ inventory }, { scope: { ...NONE, containers: ["web"] } }, message);
  const hidden = "The reason concerns containers that this token cannot access";

  equal(told("web is being restarted"), "web is being restarted");
  equal(told("vpn is being restarted, which also affects web"), hidden);
  equal(told(`the name "/vpn" is in use by container "${idOf("vpn")}".`), hidden);
  equal(told(`in use by ${idOf("vpn").slice(0, 12)}.`), hidden);
  equal(told("no vpns here"), "no vpns here");
  equal(hideForeign({ inventory }, {}, "vpn is down"), "vpn is down");
});
