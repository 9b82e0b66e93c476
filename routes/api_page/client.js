/**
 * The API page in the browser: reads /openapi.json, lists the operations and tries them out.
 *
 * Content of the document and of responses is inserted as text, never as markup. The account's
 * tokens are kept only in a variable of this module.
 *
 * @module
 */

/** Longer responses are truncated, in characters. */
const SHOWN_MAX = 200_000;

/** Maximum depth of displayed schemas. */
const DEPTH_MAX = 8;

/** Names of the editions whose operations need a license. */
const EDITIONS = { pro: "Pro", enterprise: "Enterprise" };

const METHODS = ["get", "post", "put", "patch", "delete"];

const content = byId("content");
const groups = byId("groups");
const filter = byId("filter");

/** @type {{accessToken: string, refreshToken?: string, role?: string} | undefined} */
let account;
let spec;

try {
  const answer = await fetch("/openapi.json");
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  spec = await answer.json();
  showDocument();
} catch (error) {
  content.replaceChildren(
    h("p", { class: "problem" }, `The API document cannot be read: ${error.message}`),
  );
}
connectAccount();

// The page ------------------------------------------------------------------------------------

function showDocument() {
  const { info } = spec;
  document.title = `${info.title} API`;
  byId("version").textContent = info.version;

  const byGroup = Map.groupBy(operations(), ({ group }) => group);
  const shown = tags(byGroup);
  content.replaceChildren(
    h(
      "div",
      { class: "intro" },
      h("h1", {}, `${info.title} API`),
      ...paragraphs(info.description ?? ""),
      h("p", {}, "OpenAPI document: ", h("a", { href: "/openapi.json" }, "/openapi.json")),
    ),
    ...shown.map(({ id, name, description, edition, members }) =>
      h(
        "section",
        { id },
        h("h2", {}, name, edition && h("span", { class: "chip edition" }, edition)),
        description && h("p", { class: "note" }, description),
        h("div", { class: "operations" }, ...members.map(operationRow)),
      )
    ),
    h("p", { class: "none", hidden: true }, "No operations match the filter."),
  );
  groups.replaceChildren(
    ...shown.flatMap(({ id, name, edition, members }, index) =>
      [
        edition !== shown[index - 1]?.edition && h("strong", {}, edition),
        h(
          "a",
          { href: `#${id}` },
          h("span", {}, name),
          h("span", { class: "count" }, String(members.length)),
        ),
      ].filter(Boolean)
    ),
  );
  filter.addEventListener("input", applyFilter);
  globalThis.addEventListener("hashchange", openLinked);
  globalThis.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.target.matches("input, textarea, select")) return;
    event.preventDefault();
    filter.focus();
  });
  markGroupInView();
  openLinked();
}

/** The tags of the document with their operations in order, then unlisted tags. */
function tags(byGroup) {
  const listed = spec.tags ?? [];
  const unlisted = [...byGroup.keys()].filter((group) => !listed.some(({ name }) => name === group))
    .map((name) => ({ name }));
  return [...listed, ...unlisted].filter(({ name }) => byGroup.has(name)).map((tag) => ({
    ...tag,
    id: `group-${tag.name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`,
    edition: EDITIONS[tag["x-edition"]],
    members: byGroup.get(tag.name),
  }));
}

/** Every operation of the document, in its order. */
function operations() {
  return Object.entries(spec.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => {
      const operation = item[method];
      return {
        ...operation,
        path,
        method,
        group: operation.tags?.[0] ?? "other",
        id: operation.operationId ?? `${method}${path}`,
        parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])].map(resolved),
      };
    })
  );
}

function operationRow(operation) {
  const { id, method, path, summary = "" } = operation;
  const edition = operation["x-edition"];
  const role = operation["x-role"];
  const row = h(
    "details",
    { class: "operation", id },
    h(
      "summary",
      {},
      h("span", { class: `method ${method}` }, method.toUpperCase()),
      h("span", { class: "path" }, ...pathParts(path)),
      h("span", { class: "summary" }, summary),
      h(
        "span",
        { class: "chips" },
        EDITIONS[edition] && h("span", { class: "chip edition" }, EDITIONS[edition]),
        role && h("span", { class: "chip", title: "Minimum role" }, role),
      ),
    ),
  );
  row.dataset.words = wordsOf(operation).join(" ").toLowerCase();
  // Most operations are never opened, so their details are created on the first opening.
  row.addEventListener("toggle", () => {
    if (row.open && row.children.length === 1) row.append(operationBody(operation));
    if (row.open) history.replaceState(null, "", `#${id}`);
  });
  return row;
}

/** Text that the filter searches. */
function wordsOf(operation) {
  const { method, path, summary, description, group, id, parameters, requestBody } = operation;
  const fields = resolved(jsonSchemaOf(requestBody))?.properties ?? {};
  return [
    method,
    path,
    summary,
    description,
    group,
    id,
    operation["x-edition"],
    operation["x-role"],
    ...parameters.flatMap(({ name, description }) => [name, description]),
    ...Object.entries(fields).flatMap(([name, field]) => [name, field.description]),
  ].filter(Boolean);
}

function jsonSchemaOf(body) {
  return resolved(body)?.content?.["application/json"]?.schema;
}

function pathParts(path) {
  return path.split(/(\{[^}]*\})/).map((part) =>
    part.startsWith("{") ? h("span", { class: "part" }, part) : part
  );
}

function applyFilter() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let any = false;
  for (const section of content.querySelectorAll("section")) {
    let shown = false;
    for (const row of section.querySelectorAll(".operation")) {
      row.hidden = !words.every((word) => row.dataset.words.includes(word));
      shown ||= !row.hidden;
    }
    section.hidden = !shown;
    any ||= shown;
  }
  content.querySelector(".intro").hidden = words.length > 0;
  content.querySelector(".none").hidden = any;
}

function openLinked() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target?.matches(".operation")) {
    target.open = true;
    target.scrollIntoView({ block: "start" });
  }
}

function markGroupInView() {
  const links = new Map([...groups.children].map((link) => [link.getAttribute("href"), link]));
  const visible = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) visible.add(target);
      else visible.delete(target);
    }
    const first = [...content.querySelectorAll("section")].find((one) => visible.has(one));
    for (const [href, link] of links) link.classList.toggle("here", href === `#${first?.id}`);
  }, { rootMargin: "-80px 0px -50% 0px" });
  for (const section of content.querySelectorAll("section")) observer.observe(section);
}

// One operation -------------------------------------------------------------------------------

function operationBody(operation) {
  const { description, requestBody, responses = {}, security } = operation;
  const permission = operation["x-permission"];
  const inputs = operation.parameters.filter((one) => one.in === "path" || one.in === "query")
    .map((one) => ({ ...one, field: parameterField(one, operation.id) }));
  const media = resolved(requestBody)?.content?.["application/json"];
  const bodyField = media && h("textarea", {
    "aria-label": "Body",
    spellcheck: "false",
    autocomplete: "off",
  });
  if (bodyField) {
    bodyField.value = JSON.stringify(media.example ?? exampleOf(media.schema), null, 2);
    bodyField.rows = Math.min(18, bodyField.value.split("\n").length + 1);
  }

  return h(
    "div",
    { class: "body" },
    ...paragraphs(description ?? ""),
    security?.length === 0 && h("p", { class: "note" }, "Needs no token."),
    permission && h("p", { class: "note" }, "Permission: ", h("code", {}, permission)),
    inputs.length > 0 && h("h3", {}, "Parameters"),
    inputs.length > 0 && h(
      "div",
      { class: "fields" },
      ...inputs.flatMap(({ name, field, required, schema, description, example, ...rest }) => [
        h(
          "label",
          { for: field.id },
          name,
          required ? h("span", { class: "required", title: "required" }, " *") : "",
          h("span", { class: "where" }, ` ${rest.in}`),
        ),
        h(
          "div",
          {},
          field,
          description && h("p", { class: "meaning" }, ...inlineCode(description)),
          h(
            "p",
            { class: "note" },
            [noteOf(schema, typeName(schema)), example !== undefined && `e.g. ${example}`]
              .filter(Boolean).join("; "),
          ),
        ),
      ]),
    ),
    media && h("h3", {}, "Body"),
    media && schemaBlock(media.schema),
    bodyField,
    ...tryOut(operation, inputs, bodyField),
    h("h3", {}, "Responses"),
    ...Object.entries(responses).map(([status, response]) => responseBlock(status, response)),
  );
}

function parameterField({ name, schema = {}, required }, operationId) {
  const { type, enum: values, default: preset } = resolved(schema);
  const id = `${operationId}-${name}`;
  const choices = values ?? (type === "boolean" ? [true, false] : undefined);
  if (choices) {
    const empty = preset === undefined ? "" : `default: ${preset}`;
    return h(
      "select",
      { id },
      h("option", { value: "" }, empty),
      ...choices.map((value) => h("option", { value: String(value) }, String(value))),
    );
  }
  return h("input", {
    id,
    autocomplete: "off",
    spellcheck: "false",
    inputmode: type === "integer" || type === "number" ? "numeric" : "text",
    placeholder: preset === undefined ? "" : `default: ${preset}`,
    ...(required && { "aria-required": "true" }),
  });
}

function responseBlock(status, response) {
  // A reference can have a description of its own.
  const { description = "", content: media = {} } = { ...resolved(response), ...response };
  const [type, { schema } = {}] = Object.entries(media)[0] ?? [];
  const others = Object.keys(media).filter((each) => each !== "application/json");
  const title = [
    h("span", { class: `status ${status < "4" ? "good" : "bad"}` }, status),
    " ",
    ...inlineCode(description),
    others.length > 0 ? h("span", { class: "note" }, ` ${others.join(", ")}`) : "",
  ];
  // All errors have the same shape, which the introduction describes.
  const isError = schema?.$ref === "#/components/schemas/Error";
  return schema && type === "application/json" && !isError
    ? h(
      "details",
      { class: "response", open: status < "3" },
      h("summary", {}, ...title),
      schemaBlock(schema),
    )
    : h("p", {}, ...title);
}

/** Button, curl command and response of an operation. */
function tryOut(operation, inputs, bodyField) {
  const problem = h("p", { class: "problem", role: "alert" });
  const result = h("div", { "aria-live": "polite" });
  const send = h("button", { type: "button", class: "primary" }, "Send");
  const command = h("pre", { class: "wrap" });
  let running;

  const update = () => command.textContent = curlLine(operation, inputs, bodyField);
  for (const field of [...inputs.map(({ field }) => field), ...(bodyField ? [bodyField] : [])]) {
    field.addEventListener("input", update);
  }
  update();

  send.addEventListener("click", async () => {
    if (running) return running.abort();
    problem.textContent = "";
    const missing = inputs.find(({ required, field }) => required && field.value === "");
    if (missing) {
      problem.textContent = `${missing.name} is required`;
      return missing.field.focus();
    }
    const request = requestOf(operation, inputs, bodyField);
    if (operation["x-destructive"] && !confirm(questionOf(operation, request))) return;
    running = new AbortController();
    send.textContent = "Stop";
    try {
      await showAnswer(result, request, running.signal);
    } catch (error) {
      if (!running.signal.aborted) problem.textContent = `Request failed: ${error.message}`;
    } finally {
      running = undefined;
      send.textContent = "Send";
    }
  });

  return [
    h("h3", {}, "Try it"),
    h("div", { class: "copyable" }, command, copyButton(() => command.textContent)),
    h("div", { class: "actions" }, send),
    problem,
    result,
  ];
}

/** The question before a destructive request. */
function questionOf({ summary }, { method, url, body }) {
  return [`${summary}?`, `${method} ${url}`, body].filter(Boolean).join("\n\n");
}

function requestOf({ method, path }, inputs, bodyField) {
  const query = new URLSearchParams();
  let url = path;
  for (const { name, field, ...rest } of inputs) {
    if (field.value === "") continue;
    if (rest.in === "query") query.append(name, field.value);
    else url = url.replace(`{${name}}`, () => encodeURIComponent(field.value));
  }
  const search = query.toString();
  const body = bodyField && bodyField.value.trim() !== "" ? bodyField.value : undefined;
  return { url: search ? `${url}?${search}` : url, method: method.toUpperCase(), body };
}

function curlLine(operation, inputs, bodyField) {
  const { url, method, body } = requestOf(operation, inputs, bodyField);
  const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
  return [
    "curl",
    // Without -N, curl buffers events.
    ...(isStream(operation) ? ["-N"] : []),
    ...(method === "GET" ? [] : [`-X ${method}`]),
    ...(operation.security?.length === 0 ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(body === undefined ? [] : [
      "-H 'Content-Type: application/json'",
      `-d ${quoted(compact(body))}`,
    ]),
    quoted(location.origin + url),
  ].join(" ");
}

function isStream({ responses }) {
  return resolved(responses?.[200])?.content?.["text/event-stream"] !== undefined;
}

/** JSON on one line; any other body unchanged. */
function compact(text) {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

async function showAnswer(place, request, signal) {
  const started = performance.now();
  const answer = await authorizedFetch(request, signal);
  const type = answer.headers.get("content-type") ?? "";
  const output = h("pre", { class: type.includes("json") ? "" : "wrap" });
  const line = h("span", { class: "note" });
  place.replaceChildren(
    h(
      "p",
      {},
      h("span", { class: `status ${answer.ok ? "good" : "bad"}` }, String(answer.status)),
      " ",
      line,
    ),
    output,
  );
  const told = (text) =>
    line.textContent = [
      `${Math.round(performance.now() - started)} ms`,
      `${text.length.toLocaleString("en")} characters`,
      answer.headers.get("x-request-id") && `request ${answer.headers.get("x-request-id")}`,
    ].filter(Boolean).join(" \u00b7 ");

  let text = "";
  if (type.startsWith("text/event-stream")) {
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
      text = (text + chunk).slice(-SHOWN_MAX);
      output.textContent = text;
      output.scrollTop = output.scrollHeight;
      told(text);
    }
    return;
  }
  text = await answer.text();
  told(text);
  if (text === "") return output.replaceChildren(h("span", { class: "note" }, "(empty)"));
  const shown = type.includes("json") ? pretty(text) : text;
  output.replaceChildren(...highlighted(shown.slice(0, SHOWN_MAX)));
  if (shown.length > SHOWN_MAX) output.append(h("span", { class: "note" }, "\n... (truncated)"));
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** JSON with highlighted keys, strings and other values. */
function highlighted(text) {
  const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(-?\d[\d.eE+-]*|true|false|null)\b/g;
  const nodes = [];
  let end = 0;
  for (const match of text.matchAll(tokens)) {
    const [all, string, colon] = match;
    nodes.push(text.slice(end, match.index));
    nodes.push(h("span", { class: colon ? "k" : string ? "s" : "n" }, string ?? all), colon ?? "");
    end = match.index + all.length;
  }
  return [...nodes, text.slice(end)];
}

// Schemas -------------------------------------------------------------------------------------

function schemaBlock(schema) {
  const block = h("pre", { class: "wrap" });
  for (const { text, note } of schemaLines(schema, "", "", "", 0)) {
    block.append(text, note ? h("span", { class: "note" }, `  // ${note}`) : "", "\n");
  }
  return block;
}

/** A schema as lines of a TypeScript type, each with a note. */
function schemaLines(schema, indent, before, after, depth) {
  const target = resolved(schema ?? {});
  const note = noteOf({ ...target, ...schema });
  const { properties, additionalProperties, items } = target;
  const isOpen = target.type === "object" || properties || additionalProperties;

  if (depth < DEPTH_MAX && items && isDeep(items)) {
    const inner = schemaLines(items, indent, `${before}Array<`, `>${after}`, depth + 1);
    if (note && inner[0]) inner[0].note = [note, inner[0].note].filter(Boolean).join("; ");
    return inner;
  }
  const options = target.anyOf ?? target.oneOf;
  if (depth < DEPTH_MAX && options && options.some(isDeep)) {
    return options.flatMap((option, index) =>
      schemaLines(
        option,
        indent,
        index === 0 ? before : `${indent}| `,
        index === options.length - 1 ? after : "",
        depth + 1,
      )
    );
  }
  if (depth >= DEPTH_MAX || !isOpen || !isDeep(target)) {
    return [{ text: `${before}${typeName(target)}${after}`, note }];
  }
  const required = new Set(target.required ?? []);
  const deeper = `${indent}  `;
  return [
    { text: `${before}{`, note },
    ...Object.entries(properties ?? {}).flatMap(([name, property]) =>
      schemaLines(
        property,
        deeper,
        `${deeper}${name}${required.has(name) ? "" : "?"}: `,
        "",
        depth + 1,
      )
    ),
    ...(typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0
      ? schemaLines(additionalProperties, deeper, `${deeper}[name: string]: `, "", depth + 1)
      : []),
    { text: `${indent}}${after}` },
  ];
}

/** Whether a schema needs several lines: it is or contains an object with fields. */
function isDeep(schema) {
  const { properties, additionalProperties, items, anyOf, oneOf } = resolved(schema);
  return Object.keys(properties ?? {}).length > 0 ||
    (typeof additionalProperties === "object" && Object.keys(additionalProperties).length > 0) ||
    (items !== undefined && isDeep(items)) || (anyOf ?? oneOf ?? []).some(isDeep);
}

/** A type in one line, e.g. `"start" | "stop"` or `string[]`. */
function typeName(schema) {
  const { type, enum: values, const: value, anyOf, oneOf, items, ...rest } = resolved(schema ?? {});
  if (value !== undefined) return JSON.stringify(value);
  if (values) return values.map((one) => JSON.stringify(one)).join(" | ");
  const options = anyOf ?? oneOf;
  if (options) return options.map(typeName).join(" | ");
  if (rest.allOf) return rest.allOf.map(typeName).join(" & ");
  if (Array.isArray(type)) return type.join(" | ");
  if (type === "array") {
    const item = typeName(items);
    return item.includes(" ") ? `(${item})[]` : `${item}[]`;
  }
  return type ?? "any";
}

/** Details besides the type: description, format, bounds, default. */
function noteOf(schema, ...first) {
  const target = { ...resolved(schema), ...schema };
  return [
    ...first,
    target.description,
    target.format,
    range(target.minimum ?? target.exclusiveMinimum, target.maximum ?? target.exclusiveMaximum),
    range(target.minLength, target.maxLength, " characters"),
    range(target.minItems, target.maxItems, " items"),
    target.exclusiveMinimum !== undefined && `not ${target.exclusiveMinimum} itself`,
    target.exclusiveMaximum !== undefined && `not ${target.exclusiveMaximum} itself`,
    // The format implies its pattern.
    target.pattern && !target.format && `pattern ${target.pattern}`,
    target.default !== undefined && `default ${JSON.stringify(target.default)}`,
  ].filter(Boolean).join("; ");
}

/** Bounds as text, without those of the number type itself. */
function range(min, max, unit = "") {
  const isBound = (value) => value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  if (isBound(min) && isBound(max)) return `${min} to ${max}${unit}`;
  if (isBound(min)) return `at least ${min}${unit}`;
  return isBound(max) ? `at most ${max}${unit}` : undefined;
}

/** An example value for the schema. */
function exampleOf(schema, depth = 0) {
  const target = { ...resolved(schema ?? {}), ...schema };
  const { type, properties, items, anyOf, oneOf, required = [] } = target;
  const given = target.example ?? target.examples?.[0] ?? target.default ?? target.const ??
    target.enum?.[0];
  if (given !== undefined) return given;
  const options = anyOf ?? oneOf;
  if (options) return exampleOf(options.find((one) => one.type !== "null") ?? {}, depth);
  switch (Array.isArray(type) ? type[0] : type) {
    case "object": {
      const needed = Object.entries(properties ?? {}).filter(([name]) => required.includes(name));
      return depth >= DEPTH_MAX ? {} : Object.fromEntries(
        needed.map(([name, property]) => [name, exampleOf(property, depth + 1)]),
      );
    }
    case "array":
      return target.minItems > 0 && depth < DEPTH_MAX ? [exampleOf(items, depth + 1)] : [];
    case "integer":
    case "number":
      return Math.max(0, target.minimum ?? 0);
    case "boolean":
      return false;
    case "string":
      return { "date-time": new Date().toISOString(), "date": "2026-01-01", "uri": "https://" }[
        target.format
      ] ?? "";
    default:
      return null;
  }
}

/** The target of a local reference; any other schema unchanged. */
function resolved(schema, hops = 0) {
  const reference = schema?.$ref;
  if (typeof reference !== "string" || !reference.startsWith("#/") || hops > DEPTH_MAX) {
    return schema;
  }
  const keys = reference.slice(2).split("/").map((key) =>
    decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~")
  );
  return resolved(keys.reduce((value, key) => value?.[key], spec) ?? {}, hops + 1);
}

// The account ---------------------------------------------------------------------------------

function connectAccount() {
  const button = byId("account");
  const dialog = byId("sign-in");
  const form = byId("sign-in-form");
  const problem = byId("sign-in-problem");

  button.addEventListener("click", () => {
    if (account) return signOut();
    problem.textContent = "";
    dialog.showModal();
    form.querySelector("label[data-way]:not([hidden]) input").focus();
  });
  byId("sign-in-cancel").addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => form.reset());
  form.addEventListener("reset", () => setTimeout(showWay));
  for (const radio of form.elements.way) radio.addEventListener("change", showWay);

  function showWay() {
    for (const label of form.querySelectorAll("label[data-way]")) {
      label.hidden = label.dataset.way !== form.elements.way.value;
    }
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { way, apiKey, email, password, token } = form.elements;
    problem.textContent = "";
    try {
      account = way.value === "token"
        ? await checkToken(token.value.trim())
        : way.value === "key"
        ? await post("/auth/token", { apiKey: apiKey.value.trim() })
        : await post("/auth/login", { email: email.value.trim(), password: password.value });
      dialog.close();
    } catch (error) {
      problem.textContent = error.message;
    }
    showAccount();
  });
}

function showAccount() {
  const button = byId("account");
  button.textContent = account ? `Sign out (${account.role ?? "token"})` : "Sign in";
}

async function checkToken(accessToken) {
  const answer = await fetch("/auth/me", { headers: { authorization: `Bearer ${accessToken}` } });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error);
  return { accessToken, role: body.role };
}

function signOut() {
  const { accessToken, refreshToken } = account;
  account = undefined;
  showAccount();
  // A pasted token is not revoked, because it may be in use elsewhere.
  if (refreshToken) post("/auth/logout", { refreshToken }, accessToken).catch(() => {});
}

async function post(path, body, accessToken) {
  const answer = await fetch(path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(accessToken && { authorization: `Bearer ${accessToken}` }),
    },
    body: JSON.stringify(body),
  });
  const result = await answer.json();
  if (!answer.ok) throw new Error(result.error);
  return result;
}

/** Fetches with the account's token. An expired access token is refreshed once. */
async function authorizedFetch({ url, method, body }, signal) {
  const once = () =>
    fetch(url, {
      method,
      signal,
      headers: {
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(account && { authorization: `Bearer ${account.accessToken}` }),
      },
      ...(body !== undefined && { body }),
    });
  const answer = await once();
  if (answer.status !== 401 || !account?.refreshToken) return answer;
  try {
    account = await post("/auth/refresh", { refreshToken: account.refreshToken });
  } catch {
    account = undefined;
    showAccount();
    return answer;
  }
  await answer.body?.cancel();
  return await once();
}

// Small parts ---------------------------------------------------------------------------------

/** An element with attributes and children; `false` and `undefined` children are left out. */
function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child || child === 0));
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

/** Text in paragraphs, with inline `code`. */
function paragraphs(text) {
  return text.split(/\n\s*\n/).filter(Boolean).map((paragraph) =>
    h(
      "p",
      {},
      ...inlineCode(paragraph),
    )
  );
}

function inlineCode(text) {
  return text.split(/`([^`]*)`/).map((part, index) => index % 2 ? h("code", {}, part) : part);
}

function copyButton(text) {
  const button = h("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    // Pages over plain HTTP from another host have no clipboard.
    const done = await navigator.clipboard?.writeText(text()).then(() => true, () => false);
    button.textContent = done ? "Copied" : "Copy failed";
    setTimeout(() => button.textContent = "Copy", 1500);
  });
  return button;
}
