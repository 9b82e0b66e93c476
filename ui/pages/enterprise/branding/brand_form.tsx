/** The dialog that creates or changes a brand. @module */

import type { Brand } from "../../../api/types.ts";
import { fieldsOf } from "../../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";

const COLOR_HINT = "#rgb or #rrggbb";

export function BrandForm({ item: brand, ...dialog }: EditProps<Brand>) {
  const { text, area } = fieldsOf(brand);
  const save = ({ name, ...rest }: FormValues) => {
    const body = { name, ...optional(rest) };
    return saveItem("/api/ext/service-enterprise/branding", brand, body);
  };
  return (
    <EditDialog noun="brand" item={brand} save={save} {...dialog} wide>
      <div class="field-row">
        {text("Name", "name", { required: true, maxLength: 100, hint: "For administrators" })}
        {text("Service name", "app_name", {
          maxLength: 100,
          required: brand !== undefined,
          hint: "What users see; default: the name",
        })}
      </div>
      <div class="field-row">
        {text("Primary color", "primary_color", { hint: COLOR_HINT })}
        {text("Secondary color", "secondary_color", { hint: COLOR_HINT })}
        {text("Accent color", "accent_color", { hint: COLOR_HINT })}
      </div>
      {text("Logo", "logo_url", { type: "url", placeholder: "https://www.example.com/logo.svg" })}
      <div class="field-row">
        {text("Dark logo", "logo_dark_url", { type: "url", hint: "For dark backgrounds" })}
        {text("Mail logo", "email_logo_url", { type: "url", hint: "For mails" })}
      </div>
      {text("Font", "font_family", {
        maxLength: 100,
        hint: "Used by browsers that have it installed",
      })}
      {area("Style sheet", "custom_css", {
        hint: "CSS that loads nothing: no @import, no url() except data:image",
        rows: 5,
      })}
    </EditDialog>
  );
}

/** Empty fields remove the value, except the service's name, which has a default. */
function optional({ app_name: appName, ...values }: FormValues) {
  const nullable = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value || null]),
  );
  return { ...nullable, ...(appName !== "" && { app_name: appName }) };
}
