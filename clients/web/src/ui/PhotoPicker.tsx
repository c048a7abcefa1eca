// Chooses a photo and shows the part of it that is kept. HEIC is converted by the service first, since most browsers cannot
// show it.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { connection } from "../app/session.ts";
import { t } from "../i18n/index.ts";
import { Dialog } from "./Dialog.tsx";
import { type Problem, problemOf } from "./problems.ts";
import { ProblemNote } from "./ProblemNote.tsx";

const SIDE = 512; // of the square that is sent; the service keeps 256 pixels

interface Props {
  hasPhoto: boolean;
  // Saves the photo, or removes it (null). What it throws is shown, and the photo can be saved again.
  save: (picture: Blob | null) => Promise<void>;
  name?: string; // of the person, who otherwise is the user
  // Other buttons than those of this part.
  children?: (act: { choose: () => void; remove: () => void }) => ComponentChildren;
}

export function PhotoPicker({ hasPhoto, save, name, children }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [picture, setPicture] = useState<ImageBitmap | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [unsaved, setUnsaved] = useState<Blob | null>(null);

  const choose = async (file: File | undefined) => {
    if (!file) return;
    setProblem(null);
    try {
      setPicture(await readPicture(file));
    } catch (error) {
      setProblem(error instanceof DOMException ? { text: t("This is no picture that can be read."), fields: {}, code: undefined } : problemOf(error));
    }
  };
  const attempt = async (blob: Blob | null) => {
    setProblem(null);
    setUnsaved(null);
    try {
      await save(blob);
    } catch (error) {
      setUnsaved(blob);
      setProblem(problemOf(error));
    }
  };
  return (
    <div class={children ? undefined : "stack tight"}>
      {children ? (
        children({ choose: () => input.current?.click(), remove: () => void attempt(null) })
      ) : (
        <div class="row">
          <button type="button" onClick={() => input.current?.click()}>
            {name ? (hasPhoto ? t("Change the photo of {name}", { name }) : t("Add a photo of {name}", { name })) : hasPhoto ? t("Change the photo") : t("Add a photo")}
          </button>
          {hasPhoto && (
            <button type="button" class="plain danger" onClick={() => void attempt(null)}>
              {t("Remove the photo")}
            </button>
          )}
        </div>
      )}
      <input
        ref={input}
        type="file"
        hidden
        aria-label={t("Photo")}
        accept="image/jpeg,image/png,image/gif,image/webp,image/heic,image/heif,.heic,.heif"
        onChange={({ currentTarget }) => {
          void choose(currentTarget.files?.[0]);
          currentTarget.value = "";
        }}
      />
      <ProblemNote problem={problem} {...(unsaved && { onRetry: () => void attempt(unsaved) })} />
      {picture && (
        <CropDialog
          picture={picture}
          onClose={() => setPicture(null)}
          onCropped={(blob) => {
            setPicture(null);
            void attempt(blob);
          }}
        />
      )}
    </div>
  );
}

async function readPicture(file: File): Promise<ImageBitmap> {
  const isHeic = /hei[cf]/i.test(file.type) || /\.hei[cf]$/i.test(file.name);
  try {
    return await createImageBitmap(file);
  } catch (error) {
    if (!isHeic) throw error;
    return createImageBitmap(await connection.convertPhoto(file));
  }
}

interface CropProps {
  picture: ImageBitmap;
  onClose: () => void;
  onCropped: (blob: Blob) => void;
}

function CropDialog({ picture, onClose, onCropped }: CropProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const smaller = Math.min(picture.width, picture.height);
  const [zoom, setZoom] = useState(1);
  const [x, setX] = useState(0.5);
  const [y, setY] = useState(0.5);
  const side = smaller / zoom;
  const left = (picture.width - side) * x;
  const top = (picture.height - side) * y;
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    context?.clearRect(0, 0, SIDE, SIDE);
    context?.drawImage(picture, left, top, side, side, 0, 0, SIDE, SIDE);
  }, [picture, left, top, side]);
  const last = useRef({ x: 0, y: 0 }); // not every browser says in movementX how far a finger went
  const drag = (event: PointerEvent) => {
    const [movedX, movedY] = [event.clientX - last.current.x, event.clientY - last.current.y];
    last.current = { x: event.clientX, y: event.clientY };
    if (event.type === "pointerdown") return canvas.current!.setPointerCapture(event.pointerId);
    if (event.buttons === 0 && event.pressure === 0) return;
    const scale = side / canvas.current!.clientWidth;
    const move = (at: number, delta: number, room: number) => (room > 0 ? Math.max(0, Math.min(1, at - (delta * scale) / room)) : at);
    setX(move(x, movedX, picture.width - side));
    setY(move(y, movedY, picture.height - side));
  };
  return (
    <Dialog
      title={t("The part that is kept")}
      onClose={onClose}
      onSubmit={() => canvas.current?.toBlob((blob) => blob && onCropped(blob), "image/jpeg", 0.92)}
      keepsOpen
      footer={
        <>
          <button type="button" onClick={onClose}>{t("Cancel")}</button>
          <button class="main">{t("Save")}</button>
        </>
      }
    >
      <canvas ref={canvas} class="crop" width={SIDE} height={SIDE} onPointerDown={drag} onPointerMove={drag} role="img" aria-label={t("The part that is kept")} />
      <Slider label={t("Size")} value={zoom} min={1} max={5} onValue={setZoom} />
      <Slider label={t("From left to right")} value={x} min={0} max={1} onValue={setX} />
      <Slider label={t("From top to bottom")} value={y} min={0} max={1} onValue={setY} />
    </Dialog>
  );
}

function Slider({ label, value, min, max, onValue }: { label: string; value: number; min: number; max: number; onValue: (value: number) => void }) {
  return (
    <label class="field">
      <span class="label">{label}</span>
      <input type="range" min={min} max={max} step={(max - min) / 100} value={value} onInput={({ currentTarget }) => onValue(Number(currentTarget.value))} />
    </label>
  );
}
