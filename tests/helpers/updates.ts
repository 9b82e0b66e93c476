/** Containers whose images are compared with those of a registry. @module */

import { createHash } from "node:crypto";
import type { Container } from "../../services/containers/inventory.ts";
import type { AppEvent } from "../../services/events/events.ts";
import type { Recorder } from "../../services/events/recorder.ts";
import { setContainers } from "./fake_containers.ts";
import { type FakeAnswer, fakeEngine } from "./fake_engine.ts";
import { LOOPBACK_ALLOWED } from "./fake_system.ts";
import { type TestApp, testApp, type TestAppOptions } from "./test_app.ts";

/** An image of the engine. */
export interface TestImage {
  id: string;
  /** E.g. `127.0.0.1:5000/app:1`. */
  tags?: string[];
  /** E.g. `127.0.0.1:5000/app@sha256:...`. */
  digests?: string[];
  labels?: Record<string, string>;
  /** Default: `amd64`. */
  architecture?: string;
}

/** A registry in memory, without credentials. */
export interface TagServer extends AsyncDisposable {
  /** Host and port. */
  address: string;
  /** Digests of {@linkcode manifest} and {@linkcode index} by `repository:tag`. */
  tags: Map<string, string>;
  /** Answers every request with this status, if set. */
  failure: { status: number; headers?: Record<string, string> } | undefined;
  /** The digest that it states for every tag, if set. */
  stated: string | undefined;
  /** Answers requests for this page of tags with a status, if set; there is always a next page. */
  pageFailure: { page: number; status: number } | undefined;
  /** Requests for manifests and tags so far, as `"HEAD app/manifests/1"`. */
  requests: string[];
}

/** An id, e.g. `sha256:1111...`. */
export const digestOf = (digit: string): string => `sha256:${digit.repeat(64)}`;

const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";
const INDEX_TYPE = "application/vnd.oci.image.index.v1+json";

/** Every manifest and index by its digest. */
const contents = new Map<string, { mediaType: string; text: string }>();

function putContent(content: { mediaType: string; [field: string]: unknown }): string {
  const text = JSON.stringify({ schemaVersion: 2, ...content });
  const digest = `sha256:${createHash("sha256").update(text).digest("hex")}`;
  contents.set(digest, { mediaType: content.mediaType, text });
  return digest;
}

/** The digest of an image for one platform, which every registry has. */
export const manifest = (name: string): string =>
  putContent({ mediaType: MANIFEST_TYPE, annotations: { name } });

/** The digest of an index of these images, which every registry has. */
export const index = (...digests: string[]): string =>
  putContent({
    mediaType: INDEX_TYPE,
    manifests: digests.map((digest, at) => ({
      mediaType: MANIFEST_TYPE,
      digest,
      size: contents.get(digest)!.text.length,
      platform: { os: "linux", architecture: ["amd64", "arm64"][at] },
    })),
  });

export function startTagServer(): TagServer {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const path = new URL(request.url).pathname.replace(/^\/v2\//, "");
    const { failure, tags } = registry;
    if (failure) return new Response(null, failure);
    if (path === "") return Response.json({});
    registry.requests.push(`${request.method} ${path}`);
    const [, repository, kind, name = ""] = /^(.+)\/(manifests|tags)\/(.+)$/.exec(path) ?? [];
    if (kind === "tags") {
      const own = [...tags.keys()].filter((tag) => tag.startsWith(`${repository}:`));
      const page = Number(new URL(request.url).searchParams.get("page") ?? 1);
      const { pageFailure } = registry;
      if (pageFailure?.page === page) return new Response(null, pageFailure);
      return Response.json({ name: repository, tags: own.map((tag) => tag.split(":")[1]) }, {
        headers: pageFailure ? { link: `<?page=${page + 1}>; rel="next"` } : {},
      });
    }
    const digest = tags.get(`${repository}:${name}`) ?? name;
    const content = contents.get(digest);
    if (!content) return new Response(null, { status: 404 });
    return new Response(request.method === "HEAD" ? null : content.text, {
      headers: {
        "content-type": content.mediaType,
        "content-length": String(content.text.length),
        "docker-content-digest": registry.stated ?? digest,
      },
    });
  });
  const registry: TagServer = {
    address: `127.0.0.1:${server.addr.port}`,
    tags: new Map(),
    failure: undefined,
    stated: undefined,
    pageFailure: undefined,
    requests: [],
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return registry;
}

export interface UpdateApp extends AsyncDisposable {
  app: TestApp;
  /** The images of the engine; may be changed at any time. */
  images: TestImage[];
  /** Requests to the engine so far. */
  requests: string[];
  /** The events so far. */
  events: AppEvent[];
  /** Replaces the containers. */
  run(containers: (Partial<Container> & { name: string })[]): void;
}

/**
 * An application whose engine has these images.
 *
 * @param answers What the engine answers besides.
 */
export function updateApp(
  images: TestImage[],
  options: TestAppOptions = {},
  answers: Record<string, FakeAnswer> = {},
): UpdateApp {
  const fake = fakeEngine({
    "GET /images/*/json": ({ parts: [id] }) => {
      const image = made.images.find((each) => each.id === id);
      if (!image) return Response.json({ message: `No such image: ${id}` }, { status: 404 });
      return Response.json({ Id: id, Os: "linux", Architecture: image.architecture ?? "amd64" });
    },
    ...answers,
    "GET /images/json": () =>
      Response.json(made.images.map(({ id, tags = [], digests = [], labels = null }) => ({
        Id: id,
        RepoTags: tags,
        RepoDigests: digests,
        Created: 0,
        Size: 1,
        Labels: labels,
      }))),
  });
  const app = testApp({
    now: "2026-01-01T00:00:00Z",
    ...options,
    engine: fake.engine,
    config: { ...LOOPBACK_ALLOWED, ...options.config },
  });
  const made: UpdateApp = {
    app,
    images,
    requests: fake.requests,
    events: [],
    run: (containers) => setContainers(app, ...containers),
    async [Symbol.asyncDispose]() {
      app[Symbol.dispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
  const recorder: Recorder = { edition: "ce", record: (_, event) => void made.events.push(event) };
  Object.assign(app.deps, { recorders: [recorder] });
  return made;
}
