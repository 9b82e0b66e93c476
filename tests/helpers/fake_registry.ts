/**
 * An image registry that speaks the protocol of real ones, and answers wrongly where a test wants it
 * to. On loopback and without TLS, as engines accept it.
 *
 * @module
 */

export interface RegistryCall {
  method: string;
  /** With its query. */
  path: string;
  headers: Headers;
  body: string;
}

export interface FakeRegistry extends AsyncDisposable {
  /** Host and port, as in the names of its images. */
  address: string;
  /** All requests so far. */
  calls: RegistryCall[];
  /** Requests so far as `HEAD /v2/app/manifests/1`. */
  requests(): string[];
  /**
   * Answers instead of the registry, by `"METHOD /path"` without the query; may be changed at any
   * time. `undefined` leaves the answer to the registry.
   */
  answers: Record<string, (call: RegistryCall) => Response | undefined | Promise<Response>>;
  /** Required authentication. Default: none. */
  auth: RegistryAuthentication;
  /**
   * Stores a manifest under a tag and under its digest.
   *
   * @param name E.g. `team/app:1`.
   * @param content An object, e.g. from {@linkcode indexOf}; default: an image without a platform.
   * @returns The digest.
   */
  put(name: string, content?: object): Promise<string>;
  /** Stores a blob. @returns The digest. */
  putBlob(repository: string, content: object): Promise<string>;
  /** Makes it refuse the tokens that were granted so far. */
  revokeTokens(): void;
  /** A header for each answer about manifests. */
  headers: Record<string, string>;
}

export type RegistryAuthentication =
  | { kind: "none" }
  | { kind: "basic"; user: string }
  | {
    kind: "bearer";
    /** `name:password` for the token server; without it, anonymous tokens are granted. */
    user?: string;
    /** The refresh token that the token server accepts. */
    identityToken?: string;
    /** Instead of the standard challenge. */
    challenge?: (realm: string, scope: string | undefined) => string;
    /** In seconds; `undefined` is not sent. */
    expiresIn?: number;
    /** The field of the token; default `token`. */
    field?: string;
  };

const INDEX = "application/vnd.oci.image.index.v1+json";
const IMAGE = "application/vnd.oci.image.manifest.v1+json";

/** An index of images or of other indexes. */
export const indexOf = (...manifests: object[]) => ({
  schemaVersion: 2,
  mediaType: INDEX,
  manifests,
});

/** An entry of an index. */
export const platformEntry = (digest: string, platform: string) => {
  const [os, architecture, variant] = platform.split("/");
  return { mediaType: IMAGE, digest, size: 1, platform: { os, architecture, variant } };
};

export const indexEntry = (digest: string) => ({ mediaType: INDEX, digest, size: 1 });

export const digestOf = async (text: string): Promise<string> => {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `sha256:${new Uint8Array(hash).toHex()}`;
};

/** @param options.tls Certificate and key, for HTTPS. */
export function fakeRegistry({ tls }: { tls?: { cert: string; key: string } } = {}): FakeRegistry {
  const manifests = new Map<string, { text: string; digest: string }>();
  const blobs = new Map<string, string>();
  const tokens = new Map<string, string>();
  let granted = 0;

  const unauthorized = (challenge: string) =>
    Response.json({ errors: [{ code: "UNAUTHORIZED" }] }, {
      status: 401,
      headers: { "www-authenticate": challenge },
    });

  const grantToken = (call: RegistryCall): Response => {
    const { auth } = registry;
    if (auth.kind !== "bearer") return new Response(null, { status: 404 });
    const form = new URLSearchParams(call.body);
    const query = new URL("http://registry" + call.path).searchParams;
    const isGranted = auth.identityToken !== undefined
      ? form.get("refresh_token") === auth.identityToken
      : auth.user === undefined || call.headers.get("authorization") === `Basic ${btoa(auth.user)}`;
    if (!isGranted) return new Response(null, { status: 401 });
    const token = `token-${++granted}`;
    tokens.set(token, (call.method === "POST" ? form : query).get("scope") ?? "");
    return Response.json({
      [auth.field ?? "token"]: token,
      ...(auth.expiresIn !== undefined && { expires_in: auth.expiresIn }),
    });
  };

  /** The refusal of a request without the right authorization. */
  const refusal = ({ headers }: RegistryCall, repository: string | undefined) => {
    const { auth } = registry;
    const authorization = headers.get("authorization") ?? "";
    if (auth.kind === "basic") {
      return authorization === `Basic ${btoa(auth.user)}`
        ? undefined
        : unauthorized('Basic realm="test"');
    }
    if (auth.kind === "none") return undefined;
    const scope = repository === undefined ? undefined : `repository:${repository}:pull`;
    const allowed = tokens.get(authorization.replace("Bearer ", ""));
    if (allowed !== undefined && (scope === undefined || allowed === scope)) return undefined;
    const realm = `${tls ? "https" : "http"}://${registry.address}/token`;
    return unauthorized(
      auth.challenge?.(realm, scope) ??
        `Bearer realm="${realm}",service="test"` +
          (scope === undefined ? "" : `,scope="${scope}"`),
    );
  };

  const answer = async (call: RegistryCall): Promise<Response> => {
    const { pathname, searchParams } = new URL("http://registry" + call.path);
    const own = await registry.answers[`${call.method} ${pathname}`]?.(call);
    if (own) return own;
    if (pathname === "/token") return grantToken(call);
    const [, repository, kind, name = ""] =
      /^\/v2\/(.+)\/(manifests|blobs|tags)\/([^/]+)$/.exec(pathname) ?? [];
    const refused = refusal(call, repository);
    if (refused) return refused;
    if (pathname === "/v2/") return Response.json({});
    if (kind === "manifests") {
      const found = manifests.get(`${repository}:${name}`);
      if (!found) return notFound("MANIFEST_UNKNOWN");
      const { mediaType = IMAGE } = JSON.parse(found.text);
      return new Response(call.method === "HEAD" ? null : found.text, {
        headers: {
          "content-type": mediaType,
          "docker-content-digest": found.digest,
          ...registry.headers,
        },
      });
    }
    if (kind === "blobs") {
      const found = blobs.get(`${repository}:${name}`);
      return found === undefined ? notFound("BLOB_UNKNOWN") : new Response(found);
    }
    if (kind === "tags") return listTags(repository!, searchParams);
    return notFound("NAME_UNKNOWN");
  };

  const listTags = (repository: string, query: URLSearchParams): Response => {
    const all = [...manifests.keys()]
      .filter((name) => name.startsWith(`${repository}:`) && !name.includes(":sha256:"))
      .map((name) => name.slice(repository.length + 1)).sort();
    const last = query.get("last");
    const rest = last === null ? all : all.filter((tag) => tag > last);
    const tags = rest.slice(0, Number(query.get("n") ?? 100));
    const next = `/v2/${repository}/tags/list?last=${tags.at(-1)}&n=${query.get("n")}`;
    return Response.json({ name: repository, tags }, {
      headers: tags.length < rest.length ? { link: `<${next}>; rel="next"` } : {},
    });
  };

  const server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    onListen() {},
    ...tls,
  }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const call: RegistryCall = {
      method: request.method,
      path: pathname + search,
      headers: request.headers,
      body: await request.text(),
    };
    registry.calls.push(call);
    return await answer(call);
  });

  const registry: FakeRegistry = {
    address: `127.0.0.1:${server.addr.port}`,
    calls: [],
    requests: () => registry.calls.map(({ method, path }) => `${method} ${path}`),
    answers: {},
    auth: { kind: "none" },
    headers: {},
    async put(name, content = { schemaVersion: 2, mediaType: IMAGE, layers: [], name }) {
      const text = JSON.stringify(content);
      const digest = await digestOf(text);
      const [repository = ""] = name.split(":");
      for (const key of [name, `${repository}:${digest}`]) manifests.set(key, { text, digest });
      return digest;
    },
    async putBlob(repository, content) {
      const text = JSON.stringify(content);
      const digest = await digestOf(text);
      blobs.set(`${repository}:${digest}`, text);
      return digest;
    },
    revokeTokens: () => tokens.clear(),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return registry;
}

const notFound = (code: string) => Response.json({ errors: [{ code }] }, { status: 404 });
