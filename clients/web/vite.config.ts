import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { defineConfig, type Plugin, type Rollup } from "vite";

type GetModuleInfo = Rollup.GetModuleInfo;
type ManualChunkMeta = Rollup.ManualChunkMeta;

const PUBLIC = new URL("./public", import.meta.url).pathname;

// The service worker has a fixed name, and the list of all files of this version in it.
function serviceWorker(): Plugin {
  return {
    name: "service-worker",
    generateBundle: {
      order: "post", // Vite takes chunks out that hold nothing but CSS: a file that is not there would end the installation
      handler(_, bundle) {
        const worker = bundle["sw.js"];
        if (worker?.type !== "chunk") return;
        const names = Object.keys(bundle).filter((name) => name.startsWith("assets/"));
        const icons = readdirSync(PUBLIC).filter((name) => /^icon/.test(name));
        const page = bundle["index.html"]?.type === "asset" ? bundle["index.html"].source : "";
        const files = [...names.map((name) => `/static/app/${name}`), ...icons.map((name) => `/app/${name}`)].sort();
        const hash = createHash("sha256").update(files.join()).update(page);
        for (const name of readdirSync(PUBLIC).sort()) hash.update(readFileSync(`${PUBLIC}/${name}`));
        worker.code = worker.code
          .replaceAll("__FILES__", JSON.stringify(files))
          .replaceAll("__VERSION__", JSON.stringify(hash.digest("hex").slice(0, 12)));
      },
    },
  };
}

// The pages by the chunk that holds them. The list of people and all that it needs is in "app", what is left in "pages".
const CHUNKS: [chunk: string, modules: RegExp][] = [
  ["map", /features\/map\/|\/(leaflet|supercluster|kdbush|topojson-client|world-atlas)\//],
  ["network", /features\/network\//],
  ["settings", /features\/(account|settings|preferences|notifications|devices|feeds|calendars|carddav)\/|qrcode-generator|QrCode|features\/relationships\/Types|CustomFieldsPage/],
  ["box", /features\/(search|add)\//],
];
// The pages before a session, with all that they need beside: they are the first that a newcomer loads.
const SIGN_IN = ["SignInPage.tsx", "RegisterPage.tsx", "ForgottenPage.tsx", "app/SignInAgain.tsx", "app/SignOut.tsx"];
const FIRST = ["index.html", "src/main.tsx", "features/people/PeoplePage.tsx"];

// Which chunk a module goes to. A chunk for each page and each part that two pages share would be a hundred files.
function chunkOf(id: string, { getModuleInfo, getModuleIds }: ManualChunkMeta): string | undefined {
  const text = /\/i18n\/(languages|more)\/(.*)\.ts$|\/texts\/(.*)\/(core)?/.exec(id);
  if (text) return `${text[1] === "languages" || text[4] ? "first" : "more"}-texts-${text[2] ?? text[3]}`;
  if (id.includes("/src/sw/")) return undefined;
  const reached = (names: string[]) => reachedFrom([...getModuleIds()].filter((each) => names.some((name) => each.endsWith(name))), getModuleInfo);
  first ??= reached(FIRST);
  signIn ??= reached(SIGN_IN);
  if (first.has(id) || id.includes("vite/")) return "app";
  if (signIn.has(id)) return "sign-in";
  return CHUNKS.find(([, modules]) => modules.test(id))?.[0] ?? "pages";
}

let first: Set<string> | undefined;
let signIn: Set<string> | undefined;

function reachedFrom(starts: string[], getModuleInfo: GetModuleInfo): Set<string> {
  const found = new Set<string>();
  const left = [...starts];
  for (let id = left.pop(); id; id = left.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    left.push(...(getModuleInfo(id)?.importedIds ?? []));
  }
  return found;
}

export default defineConfig(({ command }) => ({
  // Django serves the built files as static ones, and the page at /app/ (contacts_project/pages/web_client.py).
  base: command === "build" ? "/static/app/" : "/app/",
  plugins: [serviceWorker()],
  resolve: {
    // The first that a name begins with counts.
    alias: {
      "contacts-client/fields": new URL("../typescript/src/personFields.ts", import.meta.url).pathname,
      "contacts-client/searched": new URL("../typescript/src/searchedFields.ts", import.meta.url).pathname,
      "contacts-client": new URL("../typescript/src/index.ts", import.meta.url).pathname,
    },
  },
  esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
  server: { proxy: { "^/(api|account|static|calendar)(/|$)": "http://127.0.0.1:8000" } },
  build: {
    outDir: "../../contacts_project/static/app",
    emptyOutDir: true,
    target: ["chrome123", "firefox125", "safari17.5"],
    assetsInlineLimit: 0, // the policy allows no script or font in a data: URL
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rollupOptions: {
      input: { app: "index.html", sw: "src/sw/sw.ts", home: "src/sw/home.ts" },
      onwarn: (warning, warn) => {
        if (warning.code === "CIRCULAR_DEPENDENCY") throw new Error(warning.message);
        warn(warning);
      },
      output: {
        entryFileNames: ({ name }) => (name === "sw" || name === "home" ? "[name].js" : "assets/[name]-[hash].js"),
        chunkFileNames: "assets/[name]-[hash].js",
        manualChunks: chunkOf,
        assetFileNames: "assets/[name]-[hash].[ext]",
      },
    },
  },
}));
