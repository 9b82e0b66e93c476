/** The dialog that creates or changes a monitor. @module */

import { useSignal } from "@preact/signals";
import type { Monitor, NewMonitor } from "../../../api/types.ts";
import { fieldsOf } from "../../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { HeadersField, headersOf } from "../../../parts/headers_field.tsx";

type Type = NewMonitor["type"];

const TYPES: readonly { value: Type; name: string }[] = [
  { value: "http", name: "HTTP" },
  { value: "tcp", name: "TCP port" },
  { value: "dns", name: "DNS record" },
];

const URL_HINTS: Record<Type, string> = {
  http: "E.g. https://shop.example.com/health",
  tcp: "Host and port, e.g. db.internal:5432",
  dns: "The name to look up, e.g. www.example.com",
};

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
const RECORD_TYPES = ["A", "AAAA", "CNAME", "MX", "NS", "TXT", "SRV", "PTR", "CAA", "SOA"];

export function MonitorForm({ item: monitor, ...dialog }: EditProps<Monitor, Monitor>) {
  const type = useSignal<Type>(monitor?.type ?? "http");
  const { text, number, select, check } = fieldsOf(monitor);
  const save = (values: FormValues) => {
    const body = bodyOf(values, type.value);
    return saveItem("/api/ext/service-pro/uptime/monitors", monitor, body);
  };
  return (
    <EditDialog noun="monitor" item={monitor} save={save} {...dialog}>
      {text("Name", "name", { required: true, maxLength: 100 })}
      {select("Type", "type", TYPES, { choice: type })}
      {text("URL", "url", { hint: URL_HINTS[type.value], required: true, maxLength: 2_048 })}
      <div class="field-row">
        {number("Interval (seconds)", "interval_seconds", { initial: 60, min: 5, max: 86_400 })}
        {number("Retries", "retries", {
          initial: 1,
          hint: "Before it counts as down",
          min: 0,
          max: 5,
        })}
        {number("Timeout (ms)", "timeout_ms", { initial: 5_000, min: 100, max: 60_000 })}
      </div>
      {type.value === "http" && <HttpFields monitor={monitor} />}
      {type.value === "dns" && (
        <div class="field-row">
          {select("Record type", "record_type", RECORD_TYPES, { initial: "A" })}
          {text("Expected record", "expected", { hint: "Any record if empty", maxLength: 1_000 })}
        </div>
      )}
      {check("Open an incident while it is down", "auto_incident")}
    </EditDialog>
  );
}

function HttpFields({ monitor }: { monitor: Monitor | undefined }) {
  const { text, select, area } = fieldsOf(monitor);
  return (
    <>
      <div class="field-row">
        {select("Method", "method", METHODS, { initial: "GET" })}
        {text("Expected status", "expected_status", {
          initial: 200,
          hint: "E.g. 200-299,301",
          required: true,
          maxLength: 100,
        })}
      </div>
      {text("Keyword", "keyword", {
        hint: "Text that the response must contain; case-sensitive",
        maxLength: 1_000,
      })}
      <details class="more-fields">
        <summary>Headers and body</summary>
        <div>
          <HeadersField name="headers" value={monitor?.headers} />
          {area("Body", "body", {
            rows: 3,
            hint: monitor ? "Stored encrypted; ******** keeps the stored one" : "Stored encrypted",
          })}
        </div>
      </details>
    </>
  );
}

/** Empty fields are sent as null, which removes a stored value. */
function bodyOf(values: FormValues, type: Type): NewMonitor {
  const { name, url, interval_seconds, retries, timeout_ms, auto_incident } = values;
  const common = { name, type, url, interval_seconds, retries, timeout_ms, auto_incident };
  if (type === "http") {
    return {
      ...common,
      method: values.method,
      expected_status: values.expected_status,
      keyword: values.keyword || null,
      headers: headersOf(values.headers),
      body: values.body || null,
    };
  }
  if (type === "dns") {
    return { ...common, record_type: values.record_type, expected: values.expected || null };
  }
  return common;
}
