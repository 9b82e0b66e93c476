/** The form of an operation: its parameters and body, the curl command, and the response. @module */

import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../../components/button.tsx";
import { confirm } from "../../components/dialog.tsx";
import { SelectField, TextArea, TextField } from "../../components/fields.tsx";
import { Form } from "../../components/form.tsx";
import { type FormValues, valuesOf } from "../../components/form_values.ts";
import { copyText } from "../../base/copy.ts";
import { plainLines } from "../../base/text.ts";
import { ROOT } from "../../state/root.ts";
import { showAlert } from "../../state/toasts.ts";
import { sendComposed } from "./account.tsx";
import { type Answer, AnswerView, readAnswer } from "./answer.tsx";
import type { Operation, Parameter } from "./document.ts";
import { type ComposedRequest, composeRequest, curlLine, fieldOf } from "./request.ts";
import type { SchemaWriter } from "./schema.ts";
import { Prose, SchemaText } from "./text.tsx";

/** Limit of lines that the field of a body shows without scrolling. */
const BODY_ROWS_MAX = 18;

interface Props {
  operation: Operation;
  writer: SchemaWriter;
}

export function TryIt({ operation, writer }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const values = useSignal<FormValues>({});
  const running = useSignal<AbortController | undefined>(undefined);
  const answer = useSignal<Answer | undefined>(undefined);
  const readForm = () => values.value = valuesOf(box.current!.querySelector("form")!);
  useLayoutEffect(() => void readForm(), []);
  useEffect(() => () => running.peek()?.abort(), []);

  const send = async (entered: FormValues) => {
    const request = composeRequest(operation, entered);
    if (operation.isDestructive && !await confirm(questionOf(operation, request))) return;
    running.peek()?.abort();
    const end = new AbortController();
    running.value = end;
    answer.value = undefined;
    const started = performance.now();
    const done = () => {
      if (running.peek() === end) running.value = undefined;
    };
    try {
      const response = await sendComposed(request, end.signal);
      // The form can be sent again while a stream is read.
      void readAnswer(response, started, (part) => {
        if (!end.signal.aborted) answer.value = part;
      }).catch(() => {
        if (!end.signal.aborted) {
          showAlert("The connection was lost before the response was complete");
        }
      }).finally(done);
    } catch (error) {
      done();
      if (!end.signal.aborted) throw error;
    }
  };

  return (
    <div ref={box} onInput={readForm}>
      <Form submit="Send" onSubmit={send}>
        <Parameters operation={operation} writer={writer} />
        <Body operation={operation} writer={writer} />
        <CurlCommand text={curlLine(operation, composeRequest(operation, values.value))} />
      </Form>
      {running.value && (
        <Button icon="stop" onClick={() => running.peek()?.abort()}>Stop the request</Button>
      )}
      <div aria-live="polite">
        <AnswerView answer={answer} />
      </div>
    </div>
  );
}

/** The question before a request that interrupts or removes something. */
function questionOf({ summary }: Operation, { method, url, body }: ComposedRequest) {
  const [verb = "", ...rest] = summary.split(" ");
  return {
    verb,
    name: rest.join(" "),
    consequence: (
      <code class="message">
        {plainLines(
          [`${method} ${url.slice(ROOT.origin.length)}`, body].filter(Boolean).join("\n\n"),
        )}
      </code>
    ),
  };
}

function Parameters({ operation: { parameters }, writer }: Props) {
  if (parameters.length === 0) return null;
  return (
    <>
      <h3>Parameters</h3>
      <div class="field-grid">
        {parameters.map((parameter) => (
          <ParameterField key={fieldOf(parameter)} parameter={parameter} writer={writer} />
        ))}
      </div>
    </>
  );
}

function ParameterField({ parameter, writer }: { parameter: Parameter; writer: SchemaWriter }) {
  const { name, required = false, description, example, schema = {} } = parameter;
  const { type, enum: values, default: preset } = schema;
  const facts = [
    `${parameter.in}${required ? ", required" : ""}`,
    writer.typeName(schema),
    writer.noteOf(schema),
    example !== undefined && `e.g. ${example}`,
  ];
  const field = {
    label: name,
    name: fieldOf(parameter),
    required,
    hint: (
      <>
        {description && (
          <>
            <Prose text={description} />
            <br />
          </>
        )}
        {facts.filter(Boolean).join("; ")}
      </>
    ),
  };
  const choices = values ?? (type === "boolean" ? [true, false] : undefined);
  const unset = preset === undefined ? "" : `default: ${preset}`;
  return choices
    ? <SelectField {...field} options={[{ value: "", name: unset }, ...choices.map(String)]} />
    : <TextField {...field} autocomplete="off" placeholder={unset} />;
}

function Body({ operation: { body }, writer }: Props) {
  const json = body["application/json"];
  const types = Object.keys(body);
  if (types.length === 0) return null;
  if (!json) {
    return (
      <>
        <h3>Body</h3>
        <p class="muted">{types.join(", ")}: add it to the curl command.</p>
      </>
    );
  }
  const { schema = {}, example = writer.exampleOf(schema) } = json;
  const text = JSON.stringify(example, null, 2);
  return (
    <>
      <h3>Body</h3>
      <SchemaText schema={schema} writer={writer} />
      <TextArea
        name="body"
        label="JSON"
        code
        rows={Math.min(BODY_ROWS_MAX, text.split("\n").length + 1)}
        value={text}
      />
    </>
  );
}

function CurlCommand({ text }: { text: string }) {
  const shown = useRef<HTMLPreElement>(null);
  return (
    <>
      <h3>Request</h3>
      <div class="curl">
        <pre ref={shown} class="commands">{text}</pre>
        <Button icon="copy" onClick={() => void copyText(shown.current!, text)}>Copy</Button>
      </div>
    </>
  );
}
