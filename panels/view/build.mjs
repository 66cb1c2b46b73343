// `node build.mjs [--debug] [--watch] [--outfile=...]`: one file that the App loads; what `globals.json` names is its own.
import { readFileSync } from "node:fs";
import * as esbuild from "esbuild";

const globals = JSON.parse(readFileSync(new URL("globals.json", import.meta.url), "utf8"));

/** What the App has on `window` is taken from there: a second React would break hooks. */
const fromTheApp = {
  name: "from-the-app",
  setup(build) {
    const names = Object.keys(globals).map((name) => name.replace("/", "\\/"));
    build.onResolve({ filter: new RegExp(`^(${names.join("|")})$`) }, ({ path }) => ({ path, namespace: "app" }));
    build.onLoad({ filter: /.*/, namespace: "app" }, ({ path }) => ({
      contents: `module.exports = window.${globals[path]}`,
      loader: "js",
    }));
  },
};

const options = {
  absWorkingDir: new URL(".", import.meta.url).pathname,
  entryPoints: ["src/index.tsx"],
  outfile: "dist/index.umd.js",
  bundle: true,
  format: "iife",
  target: "es2020",
  charset: "ascii",
  jsx: "transform", // the App has no `react/jsx-runtime` among its globals
  legalComments: "none",
  minify: !process.argv.includes("--debug"),
  plugins: [fromTheApp],
};
const outfile = process.argv.find((argument) => argument.startsWith("--outfile="));
if (outfile) options.outfile = outfile.slice("--outfile=".length);

if (process.argv.includes("--watch")) await (await esbuild.context(options)).watch();
else await esbuild.build(options);
