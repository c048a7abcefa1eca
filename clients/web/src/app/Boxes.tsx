// The box "Search or do" and the line that adds, loaded when the browser has nothing else to do, at the latest when one is opened.
import { useEffect } from "preact/hooks";
import { lazy } from "../ui/lazy.tsx";
import { closeBoxes, isAddOpen, isBoxOpen, openBox } from "./box.ts";
import { rememberVisit } from "./recent.ts";
import { place } from "./router.ts";
import { useAccount } from "./session.ts";

const PRELOAD_MILLISECONDS = 3000;
const load = () => import("../features/search/Boxes.tsx");
const Loaded = lazy(load);

export function Boxes() {
  const { id } = useAccount();
  const { path } = place.value;
  useEffect(() => closeBoxes, [id]);
  useEffect(() => rememberVisit(id, path), [id, path]);
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => undefined), PRELOAD_MILLISECONDS);
    // From everywhere, also while somebody types in a field.
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      event.preventDefault();
      if (!isBoxOpen.value) openBox();
    };
    addEventListener("keydown", listen);
    return () => {
      clearTimeout(timer);
      removeEventListener("keydown", listen);
    };
  }, []);
  return isBoxOpen.value || isAddOpen.value ? <Loaded /> : null;
}
