// The box "Search or do" and the line that adds, loaded when the browser has nothing else to do, at the latest when one is opened.
import { useEffect } from "preact/hooks";
import { lazy } from "../ui/lazy.tsx";
import { isAddOpen, isBoxOpen } from "./box.ts";

const load = () => import("../features/search/Boxes.tsx");
const Loaded = lazy(load);

export function Boxes() {
  useEffect(() => {
    const timer = setTimeout(() => void load().catch(() => undefined), 3000);
    return () => clearTimeout(timer);
  }, []);
  return isBoxOpen.value || isAddOpen.value ? <Loaded /> : null;
}
