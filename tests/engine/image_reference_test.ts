import { deepEqual, equal, throws } from "node:assert/strict";
import { canonicalReference, parseReference } from "../../engine/image_reference.ts";

const sha = `sha256:${"0123456789abcdef".repeat(4)}`;

for (
  const [reference, name, tag, digest, canonical] of [
    ["nginx", "nginx", undefined, undefined, "docker.io/library/nginx:latest"],
    ["nginx:1.27", "nginx", "1.27", undefined, "docker.io/library/nginx:1.27"],
    ["library/nginx", "library/nginx", undefined, undefined, "docker.io/library/nginx:latest"],
    ["team/app", "team/app", undefined, undefined, "docker.io/team/app:latest"],
    ["docker.io/nginx", "docker.io/nginx", undefined, undefined, "docker.io/library/nginx:latest"],
    [
      "index.docker.io/team/app:1",
      "index.docker.io/team/app",
      "1",
      undefined,
      "docker.io/team/app:1",
    ],
    ["localhost/app", "localhost/app", undefined, undefined, "localhost/app:latest"],
    [
      "localhost:5000/nginx",
      "localhost:5000/nginx",
      undefined,
      undefined,
      "localhost:5000/nginx:latest",
    ],
    [
      "localhost:5000/team/app:v1",
      "localhost:5000/team/app",
      "v1",
      undefined,
      "localhost:5000/team/app:v1",
    ],
    [
      "Registry.Example/a-b_c.d__e--f/g:V_1.0-x",
      "Registry.Example/a-b_c.d__e--f/g",
      "V_1.0-x",
      undefined,
      "Registry.Example/a-b_c.d__e--f/g:V_1.0-x",
    ],
    ["[::1]:5000/app:1", "[::1]:5000/app", "1", undefined, "[::1]:5000/app:1"],
    ["UPPER/app", "UPPER/app", undefined, undefined, "UPPER/app:latest"],
    [`nginx@${sha}`, "nginx", undefined, sha, `docker.io/library/nginx@${sha}`],
    [
      `localhost:5000/nginx:1@${sha}`,
      "localhost:5000/nginx",
      "1",
      sha,
      `localhost:5000/nginx@${sha}`,
    ],
  ] as const
) {
  Deno.test(`parseReference() splits ${reference}`, () => {
    const parsed = parseReference(reference);
    deepEqual([parsed.name, parsed.tag, parsed.digest], [name, tag, digest]);
    equal(canonicalReference(parsed), canonical);
    equal(canonicalReference(parseReference(canonical)), canonical, "canonical is canonical");
  });
}

for (
  const reference of [
    "",
    ":",
    "nginx:",
    ":latest",
    "Nginx",
    "team/App",
    "ngi nx",
    "nginx:a b",
    "nginx:-a",
    `nginx:${"x".repeat(129)}`,
    "a//b",
    "/nginx",
    "nginx/",
    "a/../b",
    "a..b",
    "a.-b",
    "a___b",
    "-a",
    "a-",
    "nginx@",
    "nginx@sha256:12",
    "nginx:1:2",
    "host:123456/nginx",
    "ho_st:5000/nginx",
    "-host.example/nginx",
    "https://host/nginx",
    "nginx?x=y",
    "nginx\n",
    "a".repeat(256),
    "0".repeat(64),
    `${"a".repeat(100_000)}!`,
    `${"a-".repeat(50_000)}!`,
  ]
) {
  Deno.test(`parseReference() refuses ${JSON.stringify(reference.slice(0, 30))}`, () => {
    throws(() => parseReference(reference), { name: "EngineError", status: 400 });
  });
}
