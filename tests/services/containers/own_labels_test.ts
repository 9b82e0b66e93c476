import { deepEqual, equal } from "node:assert/strict";
import { ownLabels } from "../../../services/containers/own_labels.ts";
import { listAll, refreshContainer } from "../../../services/containers/reads.ts";
import { replicasOf } from "../../../services/compose/plan/replicas.ts";
import type { Project } from "../../../services/compose/load/resolve.ts";
import type { ContainerInspect } from "../../../engine/containers.ts";
import { idOf, simulateContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

const IMAGE_ID = `sha256:${"a".repeat(64)}`;
const PREFIX = "com.docker.compose.";

const planted = {
  [`${PREFIX}project`]: "db",
  [`${PREFIX}service`]: "pg",
  [`${PREFIX}container-number`]: "1",
  [`${PREFIX}config-hash`]: "f00",
  "com.docker.stack.namespace": "db",
  "com.docker.swarm.service.name": "db_pg",
};

Deno.test("labels that name a stack count only if the image does not give all of them", () => {
  const own = (labels: Record<string, string>, imageLabels?: Record<string, string>) =>
    Object.keys(ownLabels(labels, { imageId: IMAGE_ID, imageLabels }));
  const other = { maintainer: "x" };

  deepEqual(own({ ...planted, ...other }, { ...planted, ...other }), ["maintainer"]);
  deepEqual(own({ ...planted, ...other }, {}), [...Object.keys(planted), "maintainer"]);

  // An image that Compose built carries these three.
  const built = {
    [`${PREFIX}project`]: "db",
    [`${PREFIX}service`]: "pg",
    [`${PREFIX}version`]: "2.30",
  };
  for (const part of ["container-number", "config-hash", "oneoff", "project.working_dir"]) {
    const labels = { ...built, [`${PREFIX}${part}`]: "1" };
    deepEqual(own(labels, built), Object.keys(labels), part);
  }
  deepEqual(own(built, built), []);
  deepEqual(own({ ...built, [`${PREFIX}project`]: "shop" }, built), Object.keys(built));

  // Own labels of the one group do not make those of the other its own.
  deepEqual(own({ ...planted, [`${PREFIX}image`]: IMAGE_ID }, planted), [
    ...Object.keys(planted).filter((name) => name.startsWith(PREFIX)),
    `${PREFIX}image`,
  ]);
});

Deno.test("without the labels of the image, those count that programs set per container", () => {
  const own = (labels: Record<string, string>) =>
    Object.keys(ownLabels(labels, { imageId: IMAGE_ID, imageLabels: undefined }));
  const project = { [`${PREFIX}project`]: "db", [`${PREFIX}container-number`]: "1" };

  deepEqual(own(project), []);
  for (
    const more of [{ [`${PREFIX}config-hash`]: "f00" }, { [`${PREFIX}image`]: "a".repeat(64) }]
  ) {
    const labels = { ...project, ...more };
    deepEqual(own(labels), Object.keys(labels));
  }
  deepEqual(own({ ...project, [`${PREFIX}image`]: "b".repeat(64) }), []);
  deepEqual(own({ "com.docker.stack.namespace": "db" }), []);
});

Deno.test("labels that were cut, or left out, when the image was read put its containers into no stack", () => {
  const own = (labels: Record<string, string>, imageLabels: Record<string, string>) =>
    Object.keys(ownLabels(labels, { imageId: IMAGE_ID, imageLabels, isCut: true }));
  const long = { ...planted, [`${PREFIX}x`]: "x".repeat(2_000) };

  deepEqual(own(long, { ...planted, [`${PREFIX}x`]: `${"x".repeat(1_024)}…` }), []);
  deepEqual(own(long, {}), []);
  // The other way: lists cut sooner than descriptions.
  const listed = { ...planted, [`${PREFIX}x`]: `${"x".repeat(1_024)}…` };
  deepEqual(Object.keys(ownLabels(listed, { imageId: IMAGE_ID, imageLabels: long })), []);
  equal(own({ ...long, [`${PREFIX}project`]: "shop" }, planted).includes(`${PREFIX}project`), true);
});

Deno.test("a large or damaged image hides none of its containers", async () => {
  const labels = { [`${PREFIX}project`]: "db", [`${PREFIX}service`]: "pg" };
  const images = { a: "x".repeat(2 * 1024 * 1024), b: undefined };
  await using fake = fakeEngine({
    ...simulateContainers(
      Object.keys(images).map((name) => ({
        name,
        labels,
        imageId: `sha256:${name.repeat(64)}`,
      })),
    ),
    "GET /images/*/json": ({ parts: [id = ""] }) =>
      id.endsWith("a")
        ? Response.json({ Id: id, Config: { Labels: { text: images.a, ...labels } } })
        : new Response("{"),
  });
  using app = testApp({ engine: fake.engine });

  const found = (await listAll(app.deps)).map(({ name, composeProject, warning }) => [
    name,
    composeProject,
    warning,
  ]);

  deepEqual(found.toSorted(), [["a", null, null], ["b", null, null]]);
});

Deno.test("containers of an image cost one request, and keep their stack when it is removed", async () => {
  const labels = { [`${PREFIX}project`]: "db", [`${PREFIX}service`]: "pg" };
  const isPlanted = (id: string) => id.endsWith("e");
  const names = ["a1", "a2", "a3", "evil1", "evil2"];
  await using fake = fakeEngine({
    ...simulateContainers(names.map((name) => ({
      name,
      labels,
      imageId: `sha256:${(name.startsWith("evil") ? "e" : "a").repeat(64)}`,
    }))),
    "GET /images/*/json": ({ parts: [id = ""] }) =>
      Response.json({ Id: id, Config: { Labels: isPlanted(id) ? labels : null } }),
  });
  using app = testApp({ engine: fake.engine });
  const imageReads = () => fake.requests.filter((each) => each.startsWith("GET /images/")).length;
  const stacks = async () =>
    Object.fromEntries(
      (await listAll(app.deps)).map(({ name, composeProject }) => [name, composeProject]),
    );
  const expected = { a1: "db", a2: "db", a3: "db", evil1: null, evil2: null };

  deepEqual(await stacks(), expected);
  equal(imageReads(), 2);
  fake.answers["GET /images/*/json"] = () => Response.json({ message: "gone" }, { status: 404 });
  deepEqual(await stacks(), expected);
  equal((await refreshContainer(app.deps, idOf("evil1"))).now?.composeService, null);
  equal(imageReads(), 2);
});

Deno.test("a container with another name does not take the number of a replica", () => {
  const container = (name: string, number = "1") =>
    ({
      Id: name,
      Name: `/${name}`,
      Config: {
        Labels: { [`${PREFIX}service`]: "pg", [`${PREFIX}container-number`]: number },
      },
      State: { Running: true },
    }) as unknown as ContainerInspect;
  const project = { name: "db", services: { pg: { scale: 2 } } } as unknown as Project;
  const kept = (...containers: ContainerInspect[]) => {
    const { kept, missing } = replicasOf(project, "pg", containers);
    return [kept.map(({ Id }) => Id), missing];
  };

  deepEqual(kept(container("innocent"), container("other"), container("db-pg-1")), [
    ["db-pg-1"],
    [2],
  ]);
  deepEqual(kept(container("db_pg_1"), container("db_pg_2", "2")), [["db_pg_1", "db_pg_2"], []]);
});
