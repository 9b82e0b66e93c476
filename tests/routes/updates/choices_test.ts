import { deepEqual, equal, match, ok } from "node:assert/strict";
import { composeLabels, simulateContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

const UPDATE = "/api/containers/shop-web-1/update";
const PLAN = `${UPDATE}?plan=1`;

const OWN_ID = `sha256:${"a0".repeat(32)}`;
const FOREIGN_ID = `sha256:${"f0".repeat(32)}`;

const IMAGES: Record<string, string> = {
  "127.0.0.1:1/shop/web:1": OWN_ID,
  [OWN_ID]: OWN_ID,
  "127.0.0.1:1/shop/web:2": FOREIGN_ID,
  "secret/app:1": FOREIGN_ID,
};

/** An engine with the container of a stack, and one of another stack that runs a later tag. */
function engine(digests = [`127.0.0.1:1/shop/web@${OWN_ID}`]) {
  const container = (stack: string, image: string, imageId: string) => ({
    name: `${stack}-web-1`,
    labels: { ...composeLabels(stack, "web"), "com.docker.compose.image": imageId },
    image,
    imageId,
  });
  return fakeEngine({
    ...simulateContainers([
      container("shop", "127.0.0.1:1/shop/web:1", OWN_ID),
      container("other", "secret/app:1", FOREIGN_ID),
    ]),
    "GET /info": () => Response.json({}),
    ...Object.fromEntries(
      Object.entries(IMAGES).map(([reference, Id]) => [
        `GET /images/${reference.split("/").map(encodeURIComponent).join("/")}/json`,
        () => Response.json({ Id, RepoTags: [], RepoDigests: digests, Size: 1, Config: {} }),
      ]),
    ),
  });
}

const OTHER_REPOSITORY =
  /^body\.image: the role admin or containers:rebuild is required for another repository/;

for (const image of ["evil/web:1", "127.0.0.1:2/shop/web", "127.0.0.1:1/shop/web2", FOREIGN_ID]) {
  for (
    const [who, options] of [
      ["an operator", { role: "operator" }],
      ["a token without containers:rebuild", { scope: { permissions: ["containers:update"] } }],
    ] as const
  ) {
    Deno.test(`${who} may not choose ${image}`, async () => {
      await using fake = engine();
      using app = testApp({ engine: fake.engine });

      const answers = [
        await app.call("POST", PLAN, { image }, options),
        await app.call("POST", UPDATE, { image }, options),
      ];

      deepEqual(answers.map(({ status }) => status), [403, 403]);
      for (const { body } of answers) match(body.error, OTHER_REPOSITORY);
      deepEqual(fake.requests.filter((request) => request.includes("/images/")), []);
    });
  }
}

for (
  const image of [
    "127.0.0.1:1/shop/web",
    "127.0.0.1:1/shop/web:2",
    `127.0.0.1:1/shop/web@${OWN_ID}`,
  ]
) {
  Deno.test(`an operator may choose ${image}, of the same repository`, async () => {
    await using fake = engine();
    using app = testApp({ engine: fake.engine });

    const { status, body } = await app.call("POST", PLAN, { image }, { role: "operator" });

    deepEqual([status, body.image], [200, image]);
  });
}

Deno.test("an admin chooses any repository", async () => {
  await using fake = engine();
  using app = testApp({ engine: fake.engine });

  const { status, body } = await app.call("POST", PLAN, { image: "secret/app:1", pull: "never" });

  deepEqual([status, body.newImageId], [200, FOREIGN_ID]);
});

Deno.test("a registry on this host without an entry is not asked", async () => {
  await using fake = engine();
  using app = testApp({ engine: fake.engine });

  const { body } = await app.call("POST", PLAN, {}, { role: "operator" });

  equal(body.newDigest, null);
  match(
    body.warnings.join(),
    /127\.0\.0\.1 is an address that .*, or add the registry 127\.0\.0\.1:1/,
  );
});

Deno.test("the plan for an image that came from no registry asks none unless it is pulled", async () => {
  await using fake = engine([]);
  using app = testApp({ engine: fake.engine });

  const { body } = await app.call("POST", PLAN, {}, { role: "operator" });
  const pulled = await app.call("POST", PLAN, { pull: "always" }, { role: "operator" });

  // The address of the registry is refused, so that a question to it would be a warning.
  deepEqual([body.newImageId, body.newDigest, body.warnings], [OWN_ID, OWN_ID, []]);
  match(pulled.body.warnings.join(), /^The registry does not say what is new/);
});

Deno.test("a plan shows a limited token nothing of foreign images", async () => {
  await using fake = engine();
  using app = testApp({ engine: fake.engine });
  const scope = { stacks: ["shop"] };

  for (const image of ["secret/app:1", "127.0.0.1:1/shop/web:2"]) {
    const plan = await app.call("POST", PLAN, { image, pull: "never" }, { scope });
    const update = await app.call("POST", UPDATE, { image, pull: "never" }, { scope });

    ok(!JSON.stringify(plan.body).includes(FOREIGN_ID.slice(7, 19)));
    deepEqual([plan.status, plan.body.newImageId, plan.body.newDigest], [200, null, null]);
    deepEqual([update.status, update.body.error], [404, `Image ${image} does not exist`]);
  }
  const own = await app.call("POST", PLAN, { pull: "never" }, { scope });
  equal(own.body.newImageId, OWN_ID);
});

Deno.test("a pattern for the log requires the permission to read logs", async () => {
  await using fake = engine();
  using app = testApp({ engine: fake.engine });
  const body = { logPatternMustNotAppear: "^password" };
  const scope = { permissions: ["containers:update"] };

  const answers = [
    await app.call("POST", PLAN, body, { scope }),
    await app.call("POST", "/api/containers/shop-web-1/rollback", body, { scope }),
  ];

  deepEqual(answers.map(({ status }) => status), [403, 403]);
});
