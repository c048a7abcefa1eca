import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

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
      input: { app: "index.html", sw: "src/sw/sw.ts" },
      onwarn: (warning, warn) => {
        if (warning.code === "CIRCULAR_DEPENDENCY") throw new Error(warning.message);
        warn(warning);
      },
      output: {
        entryFileNames: ({ name }) => (name === "sw" ? "sw.js" : "assets/[name]-[hash].js"),
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash].[ext]",
      },
    },
  },
}));
