import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Plugin, ResolvedConfig } from "vite";

export interface Budget {
  /** The entry and all it imports at once, gzipped. */
  entryKiB: number;
  /** Any one lazy chunk, gzipped. */
  chunkKiB: number;
  /** The whole output folder, as it lies on disk. */
  totalMiB: number;
}

const KiB = 1024;

function sizeOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Fails a build that has grown past what a page on one's own machine may weigh. */
export function budget(limits: Budget): Plugin {
  let config: ResolvedConfig;
  const scripts = new Map<string, { entry: boolean; imports: string[] }>();
  return {
    name: "teahouse-budget",
    apply: "build",
    configResolved(resolved) {
      config = resolved;
    },
    writeBundle(_options, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type === "chunk") {
          scripts.set(file.fileName, { entry: file.isEntry, imports: file.imports });
        }
      }
      const gz = (name: string) =>
        gzipSync(readFileSync(join(config.build.outDir, name)), { level: 9 }).length / KiB;
      const first = new Set<string>();
      const visit = (name: string) => {
        if (first.has(name)) return;
        first.add(name);
        for (const other of scripts.get(name)?.imports ?? []) visit(other);
      };
      for (const [name, chunk] of scripts) if (chunk.entry) visit(name);

      const faults: string[] = [];
      const entry = [...first].reduce((sum, name) => sum + gz(name), 0);
      if (entry > limits.entryKiB) faults.push(`entry ${entry.toFixed(1)} KiB gz`);
      let largest: [string, number] = ["none", 0];
      for (const name of scripts.keys()) {
        if (first.has(name)) continue;
        const size = gz(name);
        if (size > largest[1]) largest = [name, size];
        if (size > limits.chunkKiB) faults.push(`${name} ${size.toFixed(1)} KiB gz`);
      }
      const total = sizeOf(config.build.outDir) / KiB / KiB;
      if (total > limits.totalMiB) faults.push(`folder ${total.toFixed(2)} MiB`);
      config.logger.info(
        `entry ${entry.toFixed(1)} of ${limits.entryKiB} KiB gz, largest lazy chunk ` +
          `${largest[1].toFixed(1)} of ${limits.chunkKiB} (${largest[0]}), ` +
          `folder ${total.toFixed(2)} of ${limits.totalMiB} MiB`,
      );
      if (faults.length > 0) this.error(`over the budget: ${faults.join(", ")}`);
    },
  };
}
