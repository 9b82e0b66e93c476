import { deepEqual } from "node:assert/strict";
import { parseAuthFile, readAuthFile } from "../../../../services/images/registries/auth_file.ts";
import { temporaryDirectory } from "../../../helpers/command.ts";
import { testConfig } from "../../../helpers/test_app.ts";

const entry = { pathPrefix: "", username: "ann", password: "s3:cret", identityToken: null };
const auth = btoa("ann:s3:cret");

for (
  const { what, auths, entries, problems = [] } of [
    {
      what: "Docker Hub under its old address",
      auths: { "https://index.docker.io/v1/": { auth } },
      entries: [{ ...entry, host: "docker.io" }],
    },
    {
      what: "hosts and URLs",
      auths: { "ghcr.io": { auth }, "https://Registry.example:5000/v2/": { auth } },
      entries: [{ ...entry, host: "ghcr.io" }, { ...entry, host: "registry.example:5000" }],
    },
    {
      what: "a path, as Podman writes it",
      auths: { "quay.io/team/app": { auth } },
      entries: [{ ...entry, host: "quay.io", pathPrefix: "team/app" }],
    },
    {
      what: "user name and password in fields",
      auths: { "ghcr.io": { username: "ann", password: "s3:cret" } },
      entries: [{ ...entry, host: "ghcr.io" }],
    },
    {
      what: "an identity token",
      auths: { "example.azurecr.io": { auth: btoa("<token>:"), identitytoken: "t0k" } },
      entries: [{
        host: "example.azurecr.io",
        pathPrefix: "",
        username: null,
        password: null,
        identityToken: "t0k",
      }],
    },
    { what: "an entry whose credentials are elsewhere", auths: { "ghcr.io": {} }, entries: [] },
    {
      what: "damaged entries, without their content",
      auths: {
        "a.io": { auth: "§§" },
        "b.io": { auth: btoa("no colon") },
        "c.io": { auth: btoa("ann:") },
        "d.io": { registrytoken: "t" },
        "e.io": null,
        "not a host": { auth },
      },
      entries: [],
      problems: [
        "auths of a.io is not base64",
        "auths of b.io has no user name and password",
        "auths of c.io is incomplete",
        "auths of d.io has a registrytoken, which is not supported",
        "auths: not a host is not the address of a registry",
      ],
    },
  ]
) {
  Deno.test(`REGISTRY_AUTH_FILE: ${what}`, () =>
    deepEqual(parseAuthFile(JSON.stringify({ auths })), { entries, problems }));
}

Deno.test("REGISTRY_AUTH_FILE: programs that store credentials are reported", () => {
  const text = JSON.stringify({ credsStore: "desktop", credHelpers: { "gcr.io": "gcloud" } });
  deepEqual(parseAuthFile(text).problems, [
    "credsStore is not supported, because it would run a program",
    "credHelpers of gcr.io is not supported, because it would run a program",
  ]);
});

for (const text of ["", "secret", "[]", '"text"', "null", '{"auths": 5}', '{"auths": {"": 1}}']) {
  Deno.test(`REGISTRY_AUTH_FILE with the content ${text} has no entries and quotes nothing`, () => {
    const { entries, problems } = parseAuthFile(text);
    deepEqual([entries, problems.filter((problem) => problem.includes("secret"))], [[], []]);
  });
}

Deno.test("REGISTRY_AUTH_FILE is read again after it was replaced, also behind a link", () => {
  using directory = temporaryDirectory();
  const deps = { config: testConfig({ registryAuthFile: `${directory.path}/link.json` }) };
  const hosts = () => {
    const { entries, problems } = readAuthFile(deps)!;
    return problems.length > 0 ? problems : entries.map(({ host }) => host);
  };
  deepEqual(hosts(), ["REGISTRY_AUTH_FILE cannot be read: it does not exist"]);
  Deno.symlinkSync(`${directory.path}/config.json`, `${directory.path}/link.json`);
  for (const host of ["a.io", "b.io"]) {
    Deno.writeTextFileSync(
      `${directory.path}/config.json`,
      JSON.stringify({ auths: { [host]: { auth } } }),
    );
    deepEqual(hosts(), [host]);
  }
});
