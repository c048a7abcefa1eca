import { render } from "preact";
import { startRouter } from "./app/router.ts";
import { startSession } from "./app/session.ts";
import { Shell } from "./app/Shell.tsx";
import { startTheme } from "./app/theme.ts";
import { startServiceWorker } from "./app/version.ts";
import { startKeyboard } from "./ui/keyboard.ts";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";

startTheme();
startRouter();
startKeyboard();
const root = document.getElementById("app")!;
root.replaceChildren(); // what index.html says to whom the client does not start; Preact would leave it
render(<Shell />, root);
await startSession();
void startServiceWorker();

