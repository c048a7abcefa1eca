import { bring } from "./files.ts";

// A button that opens the dialog of files.
export function FileButton({ label, class: className }: { label: string; class: string }) {
  return (
    <label class={`${className} file-button`}>
      {label}
      <input
        type="file"
        multiple
        class="hidden-text"
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          currentTarget.value = ""; // the same file may be chosen again
          void bring(files);
        }}
      />
    </label>
  );
}
