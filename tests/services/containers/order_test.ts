import { deepEqual, equal } from "node:assert/strict";
import { parseDependsOn, startOrder } from "../../../services/containers/order.ts";

for (
  const [what, services, levels] of [
    ["no service", {}, []],
    ["independent services", { b: [], a: [] }, [["a", "b"]]],
    ["a chain", { web: ["app"], app: ["db"], db: [] }, [["db"], ["app"], ["web"]]],
    [
      "a diamond",
      { top: ["left", "right"], left: ["base"], right: ["base"], base: [] },
      [["base"], ["left", "right"], ["top"]],
    ],
    [
      "a service as late as its latest dependency",
      { a: [], b: ["a"], c: ["a", "b"] },
      [["a"], ["b"], ["c"]],
    ],
    ["an unknown dependency", { web: ["gone"] }, [["web"]]],
    ["a service that depends on itself", { web: ["web"] }, [["web"]]],
    ["a cycle of two, broken at one of them", { a: ["b"], b: ["a"] }, [["a"], ["b"]]],
    [
      "the dependents of a cycle after the cycle",
      { after: ["b"], b: ["c"], c: ["b"], free: [] },
      [["free"], ["b"], ["after", "c"]],
    ],
    [
      "two separate cycles",
      { a: ["b"], b: ["a"], x: ["y"], y: ["x"] },
      [["a"], ["b"], ["x"], ["y"]],
    ],
  ] as const
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
