import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { budget } from "./build/budget.ts";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const server = process.env.TEAHOUSE_DEV_SERVER ?? "http://127.0.0.1:8788";

export default defineConfig({
  plugins: [react(), budget({ entryKiB: 160, chunkKiB: 90, totalMiB: 3 })],
  resolve: {
    alias: {
      "@locales": at("../src/teahouse/locales"),
      "@": at("./src"),
      // The document never scrolls, and the library locks scrolling by adding a <style>, which our
      // content security policy refuses.
      "react-remove-scroll": at("./src/ui/no-scroll-lock.tsx"),
    },
  },
  build: {
    outDir: at("../src/teahouse/server/static"),
    emptyOutDir: true,
    license: { fileName: "licenses.txt" },
    // The floor that light-dark() sets; below it the tokens would be rewritten.
    target: ["chrome123", "safari17.5", "firefox120"],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: {
    fs: { allow: [at("..")] },
    proxy: {
      "/api": { target: server },
      "/healthz": { target: server },
      "/ws": { target: server, ws: true },
    },
  },
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"], restoreMocks: true },
});
