/** Uploaded icons of containers. @module */

import { api } from "../api/client.ts";
import type { UploadedIcon } from "../api/types.ts";
import type { Column } from "../components/columns.tsx";
import { TextField } from "../components/fields.tsx";
import { type EditProps, FormDialog } from "../components/form.tsx";
import type { FormValues } from "../components/form_values.ts";
import { useRead } from "../components/reading.ts";
import { ResourceSection } from "../components/resource.tsx";
import { Text } from "../components/states.tsx";
import { showStatus } from "../state/toasts.ts";
import { Time } from "../components/time.tsx";

/** Twice the size at which icons are shown, so that they are sharp on fine screens. */
const PIXELS = 64;

export function UploadedIcons() {
  const reading = useRead("GET /api/icons/uploaded", {});
  return (
    <ResourceSection
      title="Icons"
      noun="icon"
      reading={reading}
      rows={reading.data.value?.icons}
      keyOf={({ name }) => name}
      columns={COLUMNS}
      write={["admin", "settings:write"]}
      form={IconForm}
      actions={(_, { remove }) => remove}
      deletion={{
        consequence: () => "Containers that name it are shown without an icon.",
        work: ({ name }) => api("DELETE /api/icons/uploaded/{name}", { path: { name } }),
      }}
      empty={"No icons yet. An icon is shown beside the containers whose label longshore.icon or " +
        "homepage.icon has its name, e.g. grafana."}
    />
  );
}

const COLUMNS: readonly Column<UploadedIcon>[] = [
  {
    title: "Name",
    cell: ({ name, url }) => (
      <span class="name-cell">
        <img class="app-icon" src={url} alt="" width={16} height={16} /> <Text>{name}</Text>
      </span>
    ),
  },
  { title: "Uploaded", cell: ({ createdAt }) => <Time at={createdAt} />, width: "w-s" },
];

function IconForm({ onClose, onSaved }: EditProps<UploadedIcon>) {
  const save = async ({ name, file }: FormValues) => {
    const body = { name: name || file.name, url: await smallImage(file) };
    const icon = await api("POST /api/icons/uploaded", { body });
    showStatus(`Uploaded ${icon.name}`);
    onSaved(icon);
    onClose();
  };
  return (
    <FormDialog title="New icon" submit="Upload" onClose={onClose} onSubmit={save}>
      <TextField
        label="Image"
        name="file"
        type="file"
        required
        hint={`PNG, WebP or JPEG; shown with ${PIXELS} by ${PIXELS} pixels at most`}
      />
      <TextField
        label="Name"
        name="name"
        maxLength={80}
        placeholder="grafana"
        hint="As labels of containers name it. Default: the name of the file"
        autocomplete="off"
      />
    </FormDialog>
  );
}

/** The image as the `data:` URL of a PNG of at most {@linkcode PIXELS} each way. */
async function smallImage(file: File): Promise<string> {
  const image = await createImageBitmap(file).catch(() => {
    throw new Error("The browser cannot read this image; choose a PNG, WebP or JPEG file");
  });
  const scale = Math.min(1, PIXELS / Math.max(image.width, image.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(image.width * scale));
  canvas.height = Math.max(1, Math.round(image.height * scale));
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}
