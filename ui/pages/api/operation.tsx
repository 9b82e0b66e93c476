/** An operation: a row that opens its description, its form and its responses. @module */

import { useSignal } from "@preact/signals";
import { Badge } from "../../components/states.tsx";
import type { Operation, Resolve } from "./document.ts";
import type { SchemaWriter } from "./schema.ts";
import { Paragraphs, Prose, SchemaText } from "./text.tsx";
import { TryIt } from "./try_it.tsx";

interface Props {
  operation: Operation;
  resolve: Resolve;
  writer: SchemaWriter;
}

/** @param props.hidden Rows that do not match the search keep what was entered. */
export function OperationRow({ hidden, ...props }: Props & { hidden: boolean }) {
  const { id, method, path, summary, role } = props.operation;
  // Most operations are never opened.
  const wasOpened = useSignal(false);
  return (
    <details
      id={id}
      class="operation"
      hidden={hidden}
      onToggle={({ currentTarget }) => {
        if (!currentTarget.open) return;
        wasOpened.value = true;
        history.replaceState(history.state, "", `#${id}`);
      }}
    >
      <summary>
        <span class={`method ${method.toLowerCase()}`}>{method}</span>{" "}
        <code class="path">
          {path.split(/(\{[^}]*\})/).map((part, at) => at % 2 ? <var key={at}>{part}</var> : part)}
        </code>{" "}
        <span class="muted">{summary}</span> {role && <Badge>{role}</Badge>}
      </summary>
      {wasOpened.value && <Details {...props} />}
    </details>
  );
}

function Details({ operation, resolve, writer }: Props) {
  const { description, needsToken, permission, responses } = operation;
  return (
    <div class="operation-body">
      <Paragraphs text={description} />
      {!needsToken && <p class="muted">Needs no token.</p>}
      {permission && (
        <p class="muted">
          Permission: <code>{permission}</code>
        </p>
      )}
      <TryIt operation={operation} writer={writer} />
      <h3>Responses</h3>
      {responses.map(([status, response]) => (
        <ResponseText
          key={status}
          status={status}
          response={response}
          resolve={resolve}
          writer={writer}
        />
      ))}
    </div>
  );
}

function ResponseText({ status, response, resolve, writer }: Omit<Props, "operation"> & {
  status: string;
  response: Operation["responses"][number][1];
}) {
  const { description = "", content = {} } = resolve(response);
  const schema = content["application/json"]?.schema;
  const others = Object.keys(content).filter((type) => type !== "application/json");
  const title = (
    <>
      <Badge tone={status < "4" ? "good" : "idle"}>{status}</Badge> <Prose text={description} />
      {" "}
      <span class="muted">{others.join(", ")}</span>
    </>
  );
  // All errors have the same shape, which the introduction describes.
  if (!schema || schema.$ref === "#/components/schemas/Error") return <p>{title}</p>;
  return (
    <details class="response" open={status < "3"}>
      <summary>{title}</summary>
      <SchemaText schema={schema} writer={writer} />
    </details>
  );
}
