import { deepEqual, equal, throws } from "node:assert/strict";
import { parseReference } from "../../../../engine/image_reference.ts";
import { credentialsFor } from "../../../../services/images/registries/access.ts";
import { createRegistry } from "../../../../services/images/registries/registries.ts";
import { temporaryDirectory } from "../../../helpers/command.ts";
import { testApp } from "../../../helpers/test_app.ts";

const settings = {
  host: "registry.example",
  pathPrefix: null,
  username: "ann",
  password: "pw",
  insecure: false,
  caCertificate: null,
};

/** The user name for an image, and `null` for anonymous access. */
const userFor = (app: ReturnType<typeof testApp>, image: string) =>
  credentialsFor(app.deps, parseReference(image))?.username ?? null;

Deno.test("the entry with the longest path that the repository begins with applies", () => {
  using app = testApp();
  for (const pathPrefix of [null, "team", "team/app"]) {
    createRegistry(app.deps, { ...settings, pathPrefix, username: pathPrefix ?? "all" });
  }
  createRegistry(app.deps, {
    ...settings,
    pathPrefix: "team/public",
    username: null,
    password: null,
  });
  for (
    const [image, user] of [
      ["registry.example/other", "all"],
      ["registry.example/teamwork/app", "all"],
      ["registry.example/team", "team"],
      ["registry.example/team/other:1", "team"],
      ["registry.example/team/app", "team/app"],
      ["Registry.Example/team/app/sub", "team/app"],
      ["registry.example/team/public", null],
      ["registry.example:5000/team", null],
      ["evil.example/registry.example/team", null],
      ["nginx", null],
    ] as const
  ) equal(userFor(app, image), user, image);
});

Deno.test("Docker Hub has one entry under all of its names", () => {
  using app = testApp();
  createRegistry(app.deps, { ...settings, host: "index.docker.io" });
  for (const image of ["nginx", "docker.io/team/app", "registry-1.docker.io/library/nginx"]) {
    deepEqual(credentialsFor(app.deps, parseReference(image)), {
      username: "ann",
      password: "pw",
      serveraddress: "https://index.docker.io/v1/",
    }, image);
  }
});

Deno.test("a stored entry precedes one of the file, unless the file's path is longer", () => {
  using directory = temporaryDirectory();
  const registryAuthFile = `${directory.path}/config.json`;
  const entry = (user: string) => ({ auth: btoa(`${user}:pw`) });
  Deno.writeTextFileSync(
    registryAuthFile,
    JSON.stringify({
      auths: {
        "registry.example": entry("file"),
        "registry.example/team": entry("file-team"),
        "cloud.example": { identitytoken: "t0k" },
      },
    }),
  );
  using app = testApp({ config: { registryAuthFile } });
  equal(userFor(app, "registry.example/app"), "file");
  createRegistry(app.deps, settings);
  equal(userFor(app, "registry.example/app"), "ann");
  equal(userFor(app, "registry.example/team/app"), "file-team");
  deepEqual(credentialsFor(app.deps, parseReference("cloud.example/app")), {
    identitytoken: "t0k",
    serveraddress: "cloud.example",
  });
});

Deno.test("a password that was moved to another host in the database cannot be used", () => {
  using app = testApp();
  createRegistry(app.deps, settings);
  app.deps.db.run("UPDATE registries SET host = 'evil.example'");
  throws(() => credentialsFor(app.deps, parseReference("evil.example/app")), {
    code: "conflict",
    message: /enter the password of evil\.example again/,
  });
});
