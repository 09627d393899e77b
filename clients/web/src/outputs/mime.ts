// Which of an output's forms is shown: the richest that is known, and only in the frame what could run.

export type Shape =
  | { kind: "text"; text: string; stream: "stdout" | "stderr" | "result" }
  | { kind: "error"; name: string; value: string; traceback: string }
  | { kind: "image"; source: string; alt: string; width: number | undefined }
  | { kind: "markdown"; text: string }
  | { kind: "html"; html: string; text: string }
  | { kind: "frame"; html: string; text: string }
  | { kind: "json"; value: unknown }
  | { kind: "unknown"; types: string[] };

const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/** nbformat's multi-line text. */
export function joined(value: unknown): string {
  return Array.isArray(value) ? value.join("") : String(value ?? "");
}

/** `content` is an nbformat 4 output. */
export function shapeOf(content: unknown): Shape {
  const output = (content ?? {}) as Record<string, unknown>;
  if (output.output_type === "stream") {
    return { kind: "text", text: joined(output.text), stream: output.name === "stderr" ? "stderr" : "stdout" };
  }
  if (output.output_type === "error") {
    const traceback = Array.isArray(output.traceback) ? output.traceback.join("\n") : "";
    return { kind: "error", name: String(output.ename ?? "Error"), value: String(output.evalue ?? ""), traceback };
  }
  return ofBundle((output.data ?? {}) as Record<string, unknown>, (output.metadata ?? {}) as Record<string, unknown>);
}

function ofBundle(data: Record<string, unknown>, metadata: Record<string, unknown>): Shape {
  const text = joined(data["text/plain"]);
  const html = data["text/html"];
  if (html !== undefined) return { kind: needsFrame(joined(html)) ? "frame" : "html", html: joined(html), text };
  const svg = data["image/svg+xml"];
  if (svg !== undefined)
    return image("image/svg+xml", btoa(String.fromCharCode(...new TextEncoder().encode(joined(svg)))), text, metadata);
  const type = IMAGES.find((each) => data[each] !== undefined);
  if (type) return image(type, joined(data[type]).replace(/\s/g, ""), text, metadata);
  if (data["application/javascript"] !== undefined) {
    return { kind: "frame", html: `<script>${joined(data["application/javascript"])}</script>`, text };
  }
  if (data["text/markdown"] !== undefined) return { kind: "markdown", text: joined(data["text/markdown"]) };
  if (data["text/latex"] !== undefined) return { kind: "text", text: joined(data["text/latex"]), stream: "result" };
  if (data["application/json"] !== undefined) return { kind: "json", value: data["application/json"] };
  if (data["text/plain"] !== undefined) return { kind: "text", text, stream: "result" };
  return { kind: "unknown", types: Object.keys(data) };
}

function image(type: string, base64: string, alt: string, metadata: Record<string, unknown>): Shape {
  const size = metadata[type] as { width?: number } | undefined;
  return { kind: "image", source: `data:${type};base64,${base64}`, alt: alt || "Output image", width: size?.width };
}

/** What is not text and tables alone goes into the sandboxed frame. */
export function needsFrame(html: string): boolean {
  return /<(script|iframe|object|embed|form|canvas|svg|video|audio|link|input|button)\b|\son\w+\s*=/i.test(html);
}
