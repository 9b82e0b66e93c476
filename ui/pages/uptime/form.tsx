/**
 * The dialog that creates or changes a monitor.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { Monitor, NewMonitor } from "../../api/types.ts";
import {
  CheckField,
  EditDialog,
  type FormValues,
  SelectField,
  TextArea,
  TextField,
} from "../../components/form.tsx";
import { HeadersField, headersOf } from "../../components/headers_field.tsx";

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

export function MonitorForm({ monitor, onClose, onSaved }: {
  /** Without one, a new monitor is created. */
  monitor: Monitor | undefined;
  onClose: () => void;
  onSaved: (monitor: Monitor) => void;
}) {
  const type = useSignal<Type>(monitor?.type ?? "http");
  const save = async (values: FormValues) => {
    const body = bodyOf(values, type.value);
    const saved = monitor
      ? await api("PUT /api/ext/service-pro/uptime/monitors/{id}", {
        path: { id: monitor.id },
        body,
      })
      : await api("POST /api/ext/service-pro/uptime/monitors", { body });
    onSaved(saved);
    return saved.name;
  };
  return (
    <EditDialog noun="monitor" name={monitor?.name} save={save} onClose={onClose}>
      <TextField label="Name" name="name" value={monitor?.name} required maxLength={100} />
      <SelectField
        label="Type"
        name="type"
        value={type.value}
        options={TYPES}
        onChange={(value) => type.value = value as Type}
      />
      <TextField
        label="URL"
        name="url"
        value={monitor?.url}
        hint={URL_HINTS[type.value]}
        required
        maxLength={2_048}
      />
      <div class="field-row">
        <TextField
          label="Interval (seconds)"
          name="interval_seconds"
          type="number"
          value={monitor?.interval_seconds ?? 60}
          required
          min={5}
          max={86_400}
        />
        <TextField
          label="Retries"
          name="retries"
          type="number"
          value={monitor?.retries ?? 1}
          hint="Before it counts as down"
          required
          min={0}
          max={5}
        />
        <TextField
          label="Timeout (ms)"
          name="timeout_ms"
          type="number"
          value={monitor?.timeout_ms ?? 5_000}
          required
          min={100}
          max={60_000}
        />
      </div>
      {type.value === "http" && <HttpFields monitor={monitor} />}
      {type.value === "dns" && (
        <div class="field-row">
          <SelectField
            label="Record type"
            name="record_type"
            value={monitor?.record_type ?? "A"}
            options={RECORD_TYPES}
          />
          <TextField
            label="Expected record"
            name="expected"
            value={monitor?.expected ?? ""}
            hint="Any record if empty"
            maxLength={1_000}
          />
        </div>
      )}
      <CheckField
        label="Open an incident while it is down"
        name="auto_incident"
        checked={monitor?.auto_incident ?? false}
      />
    </EditDialog>
  );
}

function HttpFields({ monitor }: { monitor: Monitor | undefined }) {
  return (
    <>
      <div class="field-row">
        <SelectField
          label="Method"
          name="method"
          value={monitor?.method ?? "GET"}
          options={METHODS}
        />
        <TextField
          label="Expected status"
          name="expected_status"
          value={monitor?.expected_status ?? 200}
          hint="E.g. 200-299,301"
          required
          maxLength={100}
        />
      </div>
      <TextField
        label="Keyword"
        name="keyword"
        value={monitor?.keyword ?? ""}
        hint="Text that the response must contain; case-sensitive"
        maxLength={1_000}
      />
      <details class="more-fields">
        <summary>Headers and body</summary>
        <div>
          <HeadersField name="headers" value={monitor?.headers} />
          <TextArea
            label="Body"
            name="body"
            value={monitor?.body ?? ""}
            rows={3}
            hint={monitor ? "Stored encrypted; ******** keeps the stored one" : "Stored encrypted"}
          />
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
