import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const stub = fileURLToPath(new URL("test/fiftyone.ts", import.meta.url));

export default defineConfig({
  esbuild: { jsx: "transform" },
  resolve: { alias: [{ find: /^@fiftyone\/.*/, replacement: stub }] },
  test: { environment: "jsdom", include: ["test/**/*.test.{ts,tsx}"] },
});
