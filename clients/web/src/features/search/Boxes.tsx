// The box and the line, in one chunk: they share what they understand.
import { isAddOpen } from "../../app/box.ts";
import { AddMenu } from "../add/AddMenu.tsx";

export default function Boxes() {
  return <>{isAddOpen.value && <AddMenu />}</>;
}
