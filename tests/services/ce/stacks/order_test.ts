import { deepEqual, equal } from "node:assert/strict";
import { parseDependsOn, startOrder } from "../../../../services/ce/stacks/order.ts";

for (
  const { what, services, levels } of [
    { what: "no service", services: {}, levels: [] },
    { what: "independent services", services: { b: [], a: [] }, levels: [["a", "b"]] },
    {
      what: "a chain",
      services: { web: ["app"], app: ["db"], db: [] },
      levels: [["db"], ["app"], ["web"]],
    },
    {
      what: "a diamond",
      services: { top: ["left", "right"], left: ["base"], right: ["base"], base: [] },
      levels: [["base"], ["left", "right"], ["top"]],
    },
    {
      what: "a service as late as its latest dependency",
      services: { a: [], b: ["a"], c: ["a", "b"] },
      levels: [["a"], ["b"], ["c"]],
    },
    { what: "an unknown dependency", services: { web: ["gone"] }, levels: [["web"]] },
    { what: "a service that depends on itself", services: { web: ["web"] }, levels: [["web"]] },
    {
      what: "a cycle of two, broken at one of them",
      services: { a: ["b"], b: ["a"] },
      levels: [["a"], ["b"]],
    },
    {
      what: "the dependents of a cycle after the cycle",
      services: { after: ["b"], b: ["c"], c: ["b"], free: [] },
      levels: [["free"], ["b"], ["after", "c"]],
    },
    {
      what: "two separate cycles",
      services: { a: ["b"], b: ["a"], x: ["y"], y: ["x"] },
      levels: [["a"], ["b"], ["x"], ["y"]],
    },
  ]
) {
  Deno.test(`the start order has ${what}`, () => {
    deepEqual(startOrder(new Map(Object.entries(services))), levels);
  });
}

Deno.test("the start order of a long chain is found", () => {
  const chain = new Map(
    Array.from({ length: 500 }, (_, i) => [`s${i}`, i === 0 ? [] : [`s${i - 1}`]] as const),
  );

  deepEqual(startOrder(chain).flat(), [...chain.keys()]);
});

for (
  const { label, dependencies } of [
    { label: undefined, dependencies: [] },
    { label: "", dependencies: [] },
    { label: "db", dependencies: [{ service: "db", condition: "service_started" }] },
    {
      label: "db:service_healthy:false,job:service_completed_successfully:true, cache:other",
      dependencies: [
        { service: "db", condition: "service_healthy" },
        { service: "job", condition: "service_completed_successfully" },
        { service: "cache", condition: "service_started" },
      ],
    },
    { label: ",:service_started,", dependencies: [] },
  ]
) {
  Deno.test(`the label ${JSON.stringify(label)} has ${dependencies.length} dependencies`, () => {
    deepEqual(parseDependsOn(label), dependencies);
  });
}

Deno.test("the number of dependencies in a label is limited", () => {
  const flood = Array.from({ length: 100_000 }, (_, n) => `s${n}:service_healthy`).join(",");
  equal(parseDependsOn(flood).length, 256);
  deepEqual(parseDependsOn("db,".repeat(300_000)), [
    { service: "db", condition: "service_started" },
  ]);
});
