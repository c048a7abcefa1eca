// The box and the line, in one chunk: they share what they understand.
import { isAddOpen, isBoxOpen, lineStart } from "../../app/box.ts";
import { Line } from "../add/Line.tsx";
import { Box } from "./Box.tsx";

export default function Boxes() {
  return (
    <>
      {isBoxOpen.value && <Box />}
      {isAddOpen.value && <Line key={lineStart.value.text} />}
    </>
  );
}
