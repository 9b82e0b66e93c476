import { deepEqual, equal } from "node:assert/strict";
import { dependentsOf, refersTo, shareGroup } from "../../../services/containers/share_group.ts";
import { containerOf, idOf } from "../../helpers/fake_containers.ts";

const web = containerOf({ name: "web" });
const sidecar = containerOf({ name: "sidecar", shares: [idOf("web")] });
const probe = containerOf({ name: "probe", shares: ["sidecar", idOf("web").slice(0, 12)] });
const linked = containerOf({ name: "linked", links: ["web"] });
const other = containerOf({ name: "other" });
const all = [probe, other, linked, sidecar, web];

const names = (containers: { name: string }[]) => containers.map(({ name }) => name);

Deno.test("a share group holds everything that shares namespaces, from any member", () => {
  deepEqual(names(shareGroup(web, all)).sort(), ["probe", "sidecar"]);
  deepEqual(names(shareGroup(probe, all)).sort(), ["sidecar", "web"]);
  deepEqual(shareGroup(other, all), []);
});

Deno.test("dependents are in topological order", () => {
  deepEqual(names(dependentsOf(web, all)).filter((name) => name !== "linked"), [
    "sidecar",
    "probe",
  ]);
  equal(names(dependentsOf(web, all)).includes("linked"), true);
  deepEqual(names(dependentsOf(sidecar, all)), ["probe"]);
});

Deno.test("circular links are handled", () => {
  const a = containerOf({ name: "a", links: ["b"] });
  const b = containerOf({ name: "b", links: ["a"] });
  deepEqual(names(dependentsOf(a, [a, b])), ["b"]);
});

Deno.test("a reference is a name, an id or the beginning of one", () => {
  equal(refersTo(idOf("web"), web), true);
  equal(refersTo(idOf("web").slice(0, 12), web), true);
  equal(refersTo(idOf("web").slice(0, 11), web), false);
  equal(refersTo("web", web), true);
  equal(refersTo("we", web), false);
});
