// Builds the script that draws widgets in the sandboxed frame: one file without imports, because the frame cannot load any.
import { type Plugin, build } from "vite";

const NAME = "virtual:widgets";

export function frameScript(target: string[]): Plugin {
  let isBuild = false;
  return {
    name: "frame-script",
    configResolved: (config) => void (isBuild = config.command === "build"),
    resolveId: (id) => (id === NAME ? `\0${NAME}` : undefined),
    async load(id) {
      if (id !== `\0${NAME}`) return undefined;
      if (process.env.VITEST) return "export default ''";
      const source = await script(target);
      if (!isBuild)
        return `export default ${JSON.stringify(`data:text/javascript;base64,${Buffer.from(source).toString("base64")}`)}`;
      const file = this.emitFile({ type: "asset", name: "widgets.js", source });
      return `export default import.meta.ROLLUP_FILE_URL_${file}`;
    },
  };
}

async function script(target: string[]): Promise<string> {
  const built = await build({
    configFile: false,
    logLevel: "warn",
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      write: false,
      target,
      lib: {
        entry: new URL("src/frame/widgets.ts", import.meta.url).pathname,
        name: "notariumWidgets",
        formats: ["iife"],
        fileName: "widgets",
      },
    },
  });
  const [{ output }] = built as unknown as [{ output: { type: string; code: string }[] }];
  const chunk = output.find(({ type }) => type === "chunk");
  if (!chunk) throw new Error("the script of widgets was not built");
  return chunk.code;
}
